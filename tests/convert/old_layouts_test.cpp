// Old sessions and files of ik_llama.cpp for loaders of llama.cpp since July 2024: every row stays.
#include <gtest/gtest.h>

#include "kvtool/convert.h"
#include "kvtool/error.h"
#include "support/contents.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

std::shared_ptr<const Dump> opened(const std::string& file) {
  return std::make_shared<const Dump>(open_dump(testdata(file).string()));
}

Target session_of(const char* era) {
  Target target;
  target.container = Container::session;
  target.era = loader_named(era).era;
  target.model.emplace();
  target.model->arch = "llama";
  return target;
}

ConvertOptions dropping(std::set<std::string> parts) {
  ConvertOptions options;
  options.drop = std::move(parts);
  return options;
}

// Cells in use by label, with K and V of all layers.
Contents used_contents(const Dump& dump) {
  Contents contents = contents_of(dump, dump.state.memories.front().streams.front());
  std::erase_if(contents, [](const auto& entry) { return entry.first.sequences.empty(); });
  return contents;
}

TEST(OldLayouts, SessionsOfEveryVersionKeepEveryRow) {
  std::set<std::uint32_t> versions;
  for (const auto& path : dumps_below(testdata("history"))) {
    if (without_zst(path).extension() == ".raw") continue;  // without the sizes of the model
    const auto dump = std::make_shared<const Dump>(open_dump(path.string()));
    const Dialect& d = dump->dialect;
    if (d.container != Container::session || d.body == Body::current || d.scrambled) continue;
    if (dump->state.memories.front().streams.front().cells.empty()) continue;
    SCOPED_TRACE(path.filename());
    const Conversion made =
        convert(dump, session_of("9/2-no-outputs"), dropping({"outputs", "cells"}));
    const Dump output = open_dump(memory_source("converted", [&] {
      MemorySink sink;
      write_plan(made.plan, sink);
      return sink.bytes();
    }()));
    EXPECT_EQ(output.dialect.version, 9U);
    EXPECT_EQ(used_contents(output), used_contents(*dump));
    EXPECT_EQ(output.tokens.ids, dump->tokens.ids);
    versions.insert(d.version);
  }
  EXPECT_EQ(versions, (std::set<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// A session of version 8 takes the generator's text and, where their places are known, the outputs.
TEST(OldLayouts, GeneratorTextAndOutputsGoAlong) {
  const auto dump = opened("history/v5-20240326-557410b8f-outs-plain.ggsn");
  const Conversion made = convert(dump, session_of("8/2"));
  const auto output = [&] {
    MemorySink sink;
    write_plan(made.plan, sink);
    return open_dump(memory_source("converted", sink.bytes()));
  }();
  EXPECT_EQ(output.rng.size, dump->rng.size);
  EXPECT_EQ(read_extent(output, output.rng.offset, output.rng.size),
            read_extent(*dump, dump->rng.offset, dump->rng.size));
  EXPECT_EQ(read_extent(output, output.outputs.logits.offset, output.outputs.logits.size),
            read_extent(*dump, dump->outputs.logits.offset, dump->outputs.logits.size));
  EXPECT_EQ(output.outputs.ids.size, 12U * 4);
}

void expect_refused(const std::string& file, const Target& target, const ConvertOptions& options,
                    const char* words) {
  try {
    static_cast<void>(convert(opened(file), target, options));
    ADD_FAILURE() << file;
  } catch (const Error& error) {
    EXPECT_NE(error.message().find(words), std::string::npos) << error.what();
  }
}

TEST(OldLayouts, WhatHasNoPlaceIsRefused) {
  const std::string lost = "history/v2-20231207-81bc9214a-shift-applied.ggsn.zst";
  expect_refused(lost, session_of("10/3"), dropping({"outputs"}), "--drop cells");
  expect_refused("history/v1-20230723-e76d630df-gqa-plain.ggsn.zst", session_of("10/3"),
                 dropping({"outputs"}), "scrambled");
  expect_refused("history/v4-20240326-55c1b2a3b-kq8-plain.ggsn", session_of("8/2"), {},
                 "places of logits");
}

Target slot_of(const char* era) {
  Target target;
  target.container = Container::slot;
  target.era = loader_named(era).era;
  return target;
}

// Rows in order, without labels: the families name sequences differently.
std::vector<ByteVector> rows_of(const Dump& dump) {
  const Stream& stream = dump.state.memories.front().streams.front();
  std::vector<ByteVector> rows;
  for (std::size_t c = 0; c < stream.cells.size(); ++c)
    rows.push_back(whole_payload(dump, stream, c));
  return rows;
}

TEST(OldLayouts, PlainCachesOfTheForkKeepEveryRow) {
  for (const char* file : {"server/ik_llama/llama-f16.ggsq", "server/ik_llama-v3/llama-f16-no-fa.ggsq"}) {
    const auto dump = opened(file);
    const Conversion made = convert(dump, slot_of("10/3"));
    MemorySink sink;
    write_plan(made.plan, sink);
    const Dump output = open_dump(memory_source("converted", sink.bytes()));
    EXPECT_EQ(output.layout, "ggsq3.streams/kv");
    EXPECT_EQ(rows_of(output), rows_of(*dump));
  }
}

TEST(OldLayouts, OtherCachesOfTheForkAreRefused) {
  expect_refused("server/ik_llama/qwen35.ggsq", slot_of("10/3"), {}, "plain caches");
  expect_refused("server/ik_llama/deepseek2-mha-mla3-q8_0.ggsq", slot_of("10/3"), {}, "plain caches");
  expect_refused("server/ik_llama/llama-q6_0.ggsq", slot_of("10/3"), {}, "no type q6_0");
}

}  // namespace
}  // namespace kvtool::test
