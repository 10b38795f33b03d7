// Slot files of version 1, ik_llama.cpp, and today's files for loaders of the past: there and back, and
// what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <vector>

#include "convert/like.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

DumpPointer opened(const std::string& path) {
  return std::make_shared<Dump>(open_dump(testdata(path).string()));
}

// One cache with K and V in every layer, in a form that llama.cpp has too.
bool is_plain(const Dump& dump) {
  if (dump.state.arrangement != "kv" || main_stream(dump).cells.empty()) return false;
  const auto& layers = main_stream(dump).layers;
  return std::all_of(layers.begin(), layers.end(), [](const Layer& layer) {
    return layer.k.orientation != Orientation::absent &&
           layer.v.orientation != Orientation::absent && !info(layer.k.type).fork_only &&
           !info(layer.v.type).fork_only;
  });
}

// Plain files of a kind from folders of testdata, or of KVTOOL_CORPUS.
std::vector<DumpPointer> plain_files(const std::string& extension,
                                     const std::vector<std::string>& folders) {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  const auto root = corpus != nullptr ? std::filesystem::path(corpus) : testdata();
  std::vector<DumpPointer> files;
  for (const std::string& folder : folders)
    for (const auto& path : dumps_below(root / folder)) {
      if (path.extension() != extension) continue;
      if (path.stem() == "deepseek2-mha-mla1-no-fa") continue;  // its server broke it off
      if (path.stem() == "llamah64-q8_0-khad") continue;  // rotated, which the other side is not
      auto dump = std::make_shared<Dump>(open_dump(path.string()));
      if (dump->dialect.body != Body::current && dump->dialect.body != Body::typed_slot) continue;
      if (is_plain(*dump)) files.push_back(std::move(dump));
    }
  return files;
}

using Counts = std::map<std::string, std::size_t>;

std::string names_of(const Dump& a, const Dump& b) {
  const auto name = [](const Dump& d) { return d.layout.substr(0, d.layout.find('/')); };
  return name(a) + " -> " + name(b);
}

// Rows in order, without labels: sessions and families name sequences differently.
std::vector<ByteVector> rows_of(const Dump& dump) {
  std::vector<ByteVector> rows;
  for (std::size_t c = 0; c < main_stream(dump).cells.size(); ++c)
    rows.push_back(whole_payload(dump, main_stream(dump), c));
  return rows;
}

void expect_back(const DumpPointer& from, const DumpPointer& to, Counts& whole) {
  std::string refusal;
  const auto bytes = bytes_like(from, to, {}, refusal);
  if (!bytes) {
    EXPECT_NE(refusal.find("of another model"), std::string::npos) << refusal;
    return;
  }
  if (!same_tensors(*from, *to)) return;
  // Version 2 / 8 of both families is read as llama.cpp's.
  const auto there = std::make_shared<Dump>(open_dump(memory_source("there", *bytes)));
  EXPECT_EQ(there->layout, to->layout);
  EXPECT_EQ(rows_of(*there), rows_of(*from));
  const auto back = bytes_like(there, from, {}, refusal);
  ASSERT_TRUE(back) << refusal;
  EXPECT_TRUE(*back == bytes_of(*from));
  ++whole[names_of(*from, *to)];
}

Counts there_and_back(const std::vector<DumpPointer>& files) {
  Counts whole;
  for (const DumpPointer& from : files)
    for (const DumpPointer& to : files) {
      SCOPED_TRACE(from->source->name() + " like " + to->source->name());
      if (from != to) expect_back(from, to, whole);
    }
  for (const auto& [names, n] : whole) fmt::print("{}: {} there and back\n", names, n);
  return whole;
}

TEST(OtherTargets, SlotFilesOfBothFamilies) {
  const Counts whole =
      there_and_back(plain_files(".ggsq", {"history", "server/ik_llama", "server/ik_llama-v3",
                                           "server/b3479", "server/b4748"}));
  for (const char* names :
       {"ggsq1 -> ggsq2.flat.noids", "ggsq2.flat.noids -> ggsq1", "ggsq4.ik -> ggsq2.flat.noids",
        "ggsq2.flat.noids -> ggsq4.ik", "ggsq1 -> ggsq4.ik", "ggsq4.ik -> ggsq1"})
    EXPECT_TRUE(whole.contains(names)) << names;
}

// Everything behind the ids.
ByteVector state_bytes(const ByteVector& file) {
  const std::size_t ids = 12 + std::size_t{4} * peek<std::uint32_t>(file, 8);
  return {file.begin() + static_cast<std::ptrdiff_t>(ids), file.end()};
}

// llama.cpp saved a sequence of a session as a slot file: so does a conversion, but for the ids, of which a
// session has one list.
TEST(OtherTargets, OneSequenceOfASessionIsWhatWasSavedOfIt) {
  const std::vector<std::pair<const char*, const char*>> pairs = {
      {"v6-20240430-9c67c2773-frag.ggsn", "v6-20240430-9c67c2773-frag-seq1.ggsq"},
      {"v9-20250220-c392e5094-frag.ggsn", "v8-20240728-4c676c85e-frag-seq1.ggsq"},
      {"v7-20240728-e54c35e4f-openelm-plain.ggsn",
       "v7-20240728-e54c35e4f-openelm-plain-seq0.ggsq"}};
  for (const auto& [session, slot] : pairs) {
    SCOPED_TRACE(session);
    const DumpPointer saved = opened(fmt::format("history/{}", slot));
    ConvertOptions options;
    options.like = saved;
    options.drop = {"outputs"};
    options.sequence = std::string(slot).find("seq1") != std::string::npos ? 1 : 0;
    const DumpPointer whole = opened(fmt::format("history/{}", session));
    const ByteVector made = rewritten(convert(whole, target_like(*saved), options).plan);
    EXPECT_TRUE(state_bytes(made) == state_bytes(bytes_of(*saved)));
  }
}

// The words that llama.cpp has not are nothing for a plain cache. Version 9 has no generator's text:
// that of the reference is the file's own here.
TEST(OtherTargets, SessionsOfTheForkThereAndBack) {
  const DumpPointer from = opened("server/ik_llama/llama-f16.ggsn");
  for (const char* loader : {"8/2", "9/2-flat", "ik-8/2", "ik-9/3"}) {
    SCOPED_TRACE(loader);
    Target target;
    target.container = Container::session;
    target.era = loader_named(loader).era;
    MemorySink sink;
    write_plan(convert(from, target).plan, sink);
    const auto there = std::make_shared<Dump>(open_dump(memory_source("there", sink.bytes())));
    EXPECT_EQ(used_contents(*there), used_contents(*from));
    std::string refusal;
    const auto back = bytes_like(there, from, {}, refusal);
    ASSERT_TRUE(back) << refusal;
    EXPECT_TRUE(*back == bytes_of(*from));
  }
}

// A session of today of three sequences, and one of one, become sessions of 2023 and 2024.
TEST(OtherTargets, SessionsOfTodayThereAndBack) {
  const std::vector<std::pair<const char*, const char*>> ways = {
      {"llama-simple", "v2-20231101-c43c2da8a-plain.ggsn.zst"},
      {"llama-multi-uni", "v2-20231101-c43c2da8a-plain.ggsn.zst"},
      {"llama-multi-uni", "v3-20240113-6b48ed089-plain.ggsn.zst"},
      {"llama-multi-uni", "v4-20240215-c06e45d72-plain.ggsn"},
      {"llama-multi-uni", "v4-20240303-87c2e8b27-frag.ggsn"},
      {"llama-simple", "v5-20240326-557410b8f-outs-plain.ggsn"},
      {"llama-multi-uni", "v6-20240719-be0cfb417-frag.ggsn"},
      {"llama-multi-uni", "v7-20240728-e54c35e4f-plain.ggsn"}};
  for (const auto& [file, reference] : ways) {
    SCOPED_TRACE(fmt::format("{} like {}", file, reference));
    const DumpPointer from = opened(fmt::format("modern/b11118/{}.ggsn", file));
    const DumpPointer to = opened(fmt::format("history/{}", reference));
    std::string refusal;
    const auto bytes = bytes_like(from, to, {}, refusal);
    ASSERT_TRUE(bytes) << refusal;
    const DumpPointer there = opened_like(*bytes, *to);
    EXPECT_EQ(used_contents(*there), used_contents(*from));
    EXPECT_EQ(there->header, to->header);
    const auto back = bytes_like(there, from, {}, refusal);
    ASSERT_TRUE(back) << refusal;
    EXPECT_TRUE(*back == bytes_of(*from));
  }
}

std::uint64_t pool_bytes_of(const Plan& plan) {
  const ByteVector bytes = rewritten(plan);
  return open_dump(memory_source("converted", bytes)).state.old.pool_bytes;
}

// The whole cache of 64 cells in other types, with what the build has besides it: as the same build
// stored it with f32, and by arithmetic (2 layers of K and V with 64 elements each, and 32 bytes).
TEST(OtherTargets, ThePoolIsThatOfTheTypes) {
  Target single;
  single.type_k = single.type_v = ElementType::f32;
  ConvertOptions options;
  options.drop = {"cells"};
  EXPECT_EQ(
      pool_bytes_of(
          convert(opened("history/v2-20231003-ac2219fef-frag.ggsn.zst"), single, options).plan),
      opened("history/v2-20231003-ac2219fef-kvf32-plain.ggsn.zst")->state.old.pool_bytes);
  Target half;
  half.type_k = ElementType::f16;
  EXPECT_EQ(pool_bytes_of(
                convert(opened("history/v4-20240326-55c1b2a3b-kq8-plain.ggsn"), half).plan),
            2U * 64 * (128 + 128) + 32);
  Target blocks;
  blocks.type_k = ElementType::q8_0;
  EXPECT_EQ(pool_bytes_of(convert(opened("history/v4-20240303-87c2e8b27-frag.ggsn"), blocks).plan),
            2U * 64 * (68 + 128) + 32);
}

// --- refusals ---

struct Request {
  DumpPointer dump;
  Target target;
  ConvertOptions options = {};
};

std::string refusal_of(const Request& request) {
  try {
    static_cast<void>(rewritten(convert(request.dump, request.target, request.options).plan));
  } catch (const Error& error) {
    return error.message();
  }
  return "done";
}

Target for_version(Container container, std::uint32_t version) {
  Target target;
  target.container = container;
  target.era = era_of_version(container, version);
  return target;
}

Request like(const std::string& file, const std::string& reference) {
  const DumpPointer ref = opened(reference);
  Request request{opened(file), target_like(*ref)};
  request.options.like = ref;
  return request;
}

#define EXPECT_WORDS(refusal, words) \
  EXPECT_NE((refusal).find(words), std::string::npos) << (refusal)

constexpr const char* simple = "modern/b11118/llama-simple.ggsn";
constexpr const char* session_7 = "history/v7-20240728-e54c35e4f-plain.ggsn";
constexpr const char* session_6 = "history/v6-20240719-be0cfb417-frag.ggsn";

TEST(OtherTargets, WhatIsMissingIsNamed) {
  for (const std::uint32_t version : {1U, 2U, 3U, 4U, 6U})
    EXPECT_WORDS(refusal_of({opened(simple), for_version(Container::session, version)}),
                 "begin with the model parameters");
  for (const std::uint32_t version : {5U, 7U})
    EXPECT_WORDS(refusal_of({opened(simple), for_version(Container::session, version)}),
                 "hold the text of the random generator");
  // A session of the same header struct brings it, and what version 4 has besides it has not.
  EXPECT_EQ(refusal_of({opened("history/v5-20240326-557410b8f-outs-plain.ggsn"),
                        for_version(Container::session, 6)}),
            "done");
  ConvertOptions drop;
  drop.drop = {"outputs"};
  EXPECT_WORDS(refusal_of({opened("history/v5-20240326-557410b8f-outs-plain.ggsn"),
                           for_version(Container::session, 4), drop}),
               "hold the size of the whole cache");
}

TEST(OtherTargets, WhatHasNoPlaceIsNamed) {
  const std::string multi = "modern/b11118/llama-multi-uni.ggsn";
  EXPECT_WORDS(refusal_of(like(multi, "history/v1-20230928-0512d6667-plain.ggsn.zst")),
               "hold one sequence");
  EXPECT_WORDS(refusal_of(like(session_6, "history/v4-20240303-87c2e8b27-frag.ggsn")),
               "places of logits");
  Request blocks = like(simple, "history/v3-20240113-6b48ed089-plain.ggsn.zst");
  blocks.target.type_k = ElementType::q8_0;
  EXPECT_WORDS(refusal_of(blocks), "had K of type q8_0");
  Request brain = like(simple, session_7);
  brain.target.type_k = ElementType::bf16;
  EXPECT_WORDS(refusal_of(brain), "had K of type bf16");
  Request rows = like(simple, "history/v5-20240326-557410b8f-outs-plain.ggsn");
  rows.target.flash_attention = true;
  EXPECT_WORDS(refusal_of(rows), "--flash-attn on");
  Request mixed = like(simple, "history/v2-20231101-c43c2da8a-plain.ggsn.zst");
  mixed.target.type_k = ElementType::f32;
  EXPECT_WORDS(refusal_of(mixed), "of one type");
  Request narrow = like(simple, session_7);
  narrow.target.n_ctx = 8;
  EXPECT_WORDS(refusal_of(narrow), "do not fit into the target's context of 8");
  EXPECT_WORDS(refusal_of(like("modern/b11118/gemma3-swa.ggsn", session_7)), "another model");
}

TEST(OtherTargets, VersionsWithoutSuchFilesAreRefused) {
  EXPECT_WORDS(refusal_of({opened(simple), for_version(Container::session, 0)}), "version 0");
  Target slot = for_version(Container::session, 4);
  slot.container = Container::slot;
  EXPECT_WORDS(refusal_of({opened(simple), slot}), "no slot files");
}

// However few readings there are to name.
TEST(OtherTargets, DoubtAboutTypesIsRefused) {
  for (const std::size_t readings : {0U, 1U, 2U}) {
    auto dump = std::make_shared<Dump>(*opened(session_7));
    dump->state.type_readings.resize(readings);
    dump->state.types_uncertain = true;
    Target target = for_version(Container::session, 8);
    target.model.emplace().arch = "llama";
    EXPECT_WORDS(refusal_of({dump, target}), "say --k-type and --v-type");
  }
}

TEST(OtherTargets, TheForkHoldsPlainCachesOnly) {
  Target fork;
  fork.era = loader_named("ik_llama.cpp").era;
  fork.container = Container::slot;
  EXPECT_EQ(fork.era->name, "ik-10/4");
  EXPECT_WORDS(refusal_of({opened("server/b0.7.0/jamba.ggsq"), fork}), "plain caches");
  fork.era = loader_named("ik-8/2").era;
  EXPECT_WORDS(refusal_of({opened("server/ik_llama/qwen35.ggsq"), fork}),
               "no place for its recurrent");
}

}  // namespace
}  // namespace kvtool::test
