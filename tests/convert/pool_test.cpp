// Sessions of version 0 as targets: K and V in the memory of a reference.
#include <gtest/gtest.h>

#include <cstring>

#include "convert/old_model.h"
#include "convert/old_sessions.h"
#include "kvtool/edit.h"

namespace kvtool::test {
namespace {

std::vector<Session> sessions_of(std::uint32_t version) {
  return sessions_where([&](const Dump& dump) { return dump.dialect.version == version; });
}

Target session_of(std::size_t version) {
  Target target;
  target.container = Container::session;
  target.era = old_eras().at(version);
  return target;
}

// The same struct, which versions 0 and 1 shared.
DumpPointer as_version_1(const DumpPointer& pool) {
  ConvertOptions options;
  options.layout = "ggsn1.j32";
  const ByteVector bytes = rewritten(convert(pool, session_of(1), options).plan);
  OpenOptions open;
  open.layout = "ggsn1.j32/kv";
  open.k_type = open.v_type = main_stream(*pool).layers.front().k.type;
  return std::make_shared<Dump>(open_dump(memory_source("version 1", bytes), open));
}

// A session of today, which has no place for logits.
DumpPointer modern(const DumpPointer& pool) {
  Target target;
  target.era = era_of_loader("10/3");
  target.model = shape_of_model(*old_model("llama-ggjt.bin"), *target.era);
  ConvertOptions options;
  options.drop = {"outputs"};
  const ByteVector bytes = rewritten(convert(pool, target, options).plan);
  return std::make_shared<Dump>(open_dump(memory_source("modern", bytes)));
}

ByteVector into(const DumpPointer& reference, const DumpPointer& dump, const Parts& drop = {}) {
  std::string refusal;
  const auto bytes = bytes_like(dump, reference, drop, refusal);
  EXPECT_TRUE(bytes) << refusal;
  return bytes.value_or(ByteVector());
}

std::string refusal_like(const DumpPointer& reference, const DumpPointer& dump) {
  std::string refusal = "not refused";
  (void)bytes_like(dump, reference, {}, refusal);
  return refusal;
}

void expect_words(const std::string& text, const std::string& words) {
  EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(Pool, ThroughVersion1AndBack) {
  const std::vector<Session> pools = sessions_of(0);
  ASSERT_FALSE(pools.empty());
  for (const Session& pool : pools)
    EXPECT_TRUE(into(pool.dump, as_version_1(pool.dump)) == bytes_of(*pool.dump)) << pool.name;
}

void expect_through(const DumpPointer& pool, const DumpPointer& session) {
  const DumpPointer there = opened_like(into(pool, session), *pool);
  EXPECT_EQ(there->dialect, pool->dialect);
  EXPECT_EQ(used_contents(*there), used_contents(*session));
  EXPECT_TRUE(into(session, there) == bytes_of(*session));
}

TEST(Pool, Version1ThroughItAndBack) {
  const std::vector<Session> sessions = sessions_of(1);
  for (const Session& pool : sessions_of(0)) {
    SCOPED_TRACE(pool.name);
    expect_through(pool.dump, as_version_1(pool.dump));
    for (const Session& session : sessions)
      if (session.dump->dialect.header == HeaderStruct::j32 &&
          same_tensors(*session.dump, *pool.dump))
        expect_through(pool.dump, session.dump);
  }
}

// Without its logits.
TEST(Pool, ThroughVersion10AndBack) {
  for (const Session& pool : sessions_of(0)) {
    ConvertOptions bare;
    bare.strip = {"outputs"};
    EXPECT_TRUE(into(pool.dump, modern(pool.dump)) == rewritten(convert(pool.dump, {}, bare).plan))
        << pool.name;
  }
}

// A shorter prompt: what the reference holds behind it does not stay.
TEST(Pool, CellsBehindAreZeros) {
  const Session pool = sessions_of(0).front();
  const DumpPointer whole = as_version_1(pool.dump);
  const ByteVector cut = rewritten(truncate(whole, 5));
  const DumpPointer made = opened_like(into(pool.dump, opened_like(cut, *whole)), *pool.dump);
  const Stream& stream = main_stream(*made);
  ASSERT_EQ(stream.cells.size(), made->state.old.context);
  EXPECT_EQ(stream.cells.position(4), 4);
  EXPECT_EQ(stream.cells.position(5), -1);
  for (std::size_t c = 0; c < stream.cells.size(); ++c) {
    const ByteVector payload = whole_payload(*made, stream, c);
    const bool zeros =
        std::all_of(payload.begin(), payload.end(), [](auto b) { return b == std::byte{0}; });
    EXPECT_EQ(zeros, c >= 5) << c;
  }
}

// A session of today with the pool's cells, called otherwise: `cells` of them, cell i at position
// at(i) of sequence of(i), and one token for each.
template <class At, class Of>
DumpPointer relabelled(const DumpPointer& modern, std::uint32_t cells, At&& at, Of&& of) {
  Plan plan = Plan::of(modern);
  Stream& stream = plan.target.state.memories.front().streams.front();
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < cells; ++i)
    order.push_back(i % static_cast<std::uint32_t>(stream.cells.size()));
  reorder(stream, order);
  CellTable table;
  for (std::uint32_t i = 0; i < cells; ++i) table.append(at(i), std::vector<SequenceId>{of(i)});
  stream.cells = table;
  plan.target.tokens = TokenArea{};
  plan.target.tokens.ids = plan.target.tokens.words = std::vector<TokenId>(cells, 1);
  return std::make_shared<Dump>(open_dump(memory_source("relabelled", rewritten(plan))));
}

Position as_is(std::uint32_t cell) { return static_cast<Position>(cell); }
SequenceId first(std::uint32_t) { return 0; }

TEST(Pool, WhatItCannotHoldIsNamed) {
  const DumpPointer pool = sessions_of(0).front().dump;
  const DumpPointer today = modern(pool);
  const auto refusal = [&](std::uint32_t cells, auto&& at, auto&& of) {
    return refusal_like(pool, relabelled(today, cells, at, of));
  };
  EXPECT_EQ(refusal(12, as_is, first), "not refused");
  EXPECT_EQ(refusal(64, as_is, first), "not refused");
  expect_words(refusal(65, as_is, first), "65 cells do not fit into the target's context of 64");
  expect_words(refusal(12, as_is, [](auto cell) { return static_cast<SequenceId>(cell / 6); }),
               "version 0 hold one sequence");
  expect_words(refusal(
                   12, [](auto cell) { return as_is(cell < 6 ? cell : cell + 1); }, first),
               "cell 6 is position 7");
  expect_words(refusal(
                   12, [](auto cell) { return as_is(cell < 2 ? 1 - cell : cell); }, first),
               "cell 0 is position 1");
}

TEST(Pool, TokensMustTellTheCells) {
  const DumpPointer pool = sessions_of(0).front().dump;
  Plan plan = Plan::of(modern(pool));
  plan.target.tokens.ids.pop_back();
  plan.target.tokens.words = plan.target.tokens.ids;
  const auto short_list =
      std::make_shared<Dump>(open_dump(memory_source("short", rewritten(plan))));
  expect_words(refusal_like(pool, short_list), "11 tokens and 12 cells");
}

TEST(Pool, AReferenceOfItsTimeAndModelIsNeeded) {
  const DumpPointer pool = sessions_of(0).front().dump;
  const DumpPointer today = modern(pool);
  expect_words(refusal_of(today, session_of(0), {}), "say --like REF");
  ConvertOptions options;
  options.like = pool;
  Target target = target_like(*pool);
  target.n_ctx = 128;
  expect_words(refusal_of(today, target, options), "made for a context of 64");
  target.n_ctx.reset();
  target.type_k = target.type_v = ElementType::f32;
  expect_words(refusal_of(today, target, options), "K and V of type f16");
  for (const Session& other : sessions_of(6))
    if (other.name.find("5b6da1875-plain") != std::string::npos) {
      expect_words(refusal_like(pool, other.dump), "another model");
    }
}

// Grouped queries came with version 1, in July 2023.
TEST(Pool, GroupedQueriesAreNamed) {
  const DumpPointer pool = sessions_of(0).front().dump;
  const DumpPointer today = modern(pool);
  Plan plan = Plan::of(today);
  for (Layer& layer : plan.target.state.memories.front().streams.front().layers) {
    layer.k.row_bytes /= 2;
    layer.v = layer.k;
  }
  ConvertOptions options;
  options.like = pool;
  Dump grouped = plan.target;
  Target target = target_like(*pool);
  target.model.reset();
  expect_words(refusal_of(std::make_shared<Dump>(grouped), target, options),
               "knew no grouped queries");
}

}  // namespace
}  // namespace kvtool::test
