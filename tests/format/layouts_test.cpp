// Every layout, from bytes that were written by hand.
#include <gtest/gtest.h>

#include <memory>

#include "kvtool/open.h"
#include "support/payload.h"
#include "support/sound.h"
#include "support/tiny_dump.h"
#include "support/views.h"

namespace kvtool::test {
namespace {

std::shared_ptr<const Dump> open(const ByteVector& bytes) {
  return std::make_shared<const Dump>(open_dump(std::make_shared<ViewSource>(bytes)));
}

TEST(Layouts, EachIsToldFromAllOthers) {
  for (const TinyDump& tiny : tiny_dumps()) {
    const ByteVector bytes = build(tiny);
    SCOPED_TRACE(tiny.layout);
    EXPECT_EQ(open(bytes)->layout, tiny.layout);
  }
}

TEST(Layouts, EachIsRewrittenAsItWas) {
  for (const TinyDump& tiny : tiny_dumps()) {
    const ByteVector bytes = build(tiny);
    EXPECT_EQ(flaw_of(open(bytes), bytes), "") << tiny.layout;
  }
}

TEST(Layouts, TheNameOfALayoutChoosesIt) {
  for (const TinyDump& tiny : tiny_dumps()) {
    const ByteVector bytes = build(tiny);
    const Dump dump = open_dump(std::make_shared<ViewSource>(bytes), {tiny.layout, {}});
    EXPECT_EQ(dump.layout, tiny.layout);
  }
}

// The checks above must be able to fail.
TEST(Layouts, WhatIsNotSoundIsNoticed) {
  EXPECT_NE(flaw_of_map({{0, 4, "a"}, {5, 3, "b"}}, 8), "");  // gap
  EXPECT_NE(flaw_of_map({{0, 4, "a"}, {3, 5, "b"}}, 8), "");  // overlap
  EXPECT_NE(flaw_of_map({{0, 4, "a"}, {4, 4, ""}}, 8), "");   // no label
  EXPECT_NE(flaw_of_map({{0, 4, "a"}}, 8), "");               // end missing
  EXPECT_EQ(flaw_of_map({{0, 4, "a"}, {4, 4, "b"}}, 8), "");
  const ByteVector bytes = build(tiny_dump("ggsn11.streams.rot/kv"));
  ByteVector other = bytes;
  other.back() ^= std::byte{1};
  EXPECT_NE(flaw_of_identity(open(bytes), other), "");
  other.pop_back();
  EXPECT_NE(flaw_of_identity(open(bytes), other), "");
}

bool has_tokens(const Dialect& d) {
  return d.container == Container::session || d.container == Container::slot;
}

// Sessions 0 hold the whole context, of which the tiny ones leave two cells unused; where all cells
// are listed, one is in use behind those with data.
void expect_cells(const Stream& stream, const TinyDump& tiny) {
  const bool whole = tiny.dialect.body == Body::pool;
  ASSERT_EQ(stream.cells.size(), tiny.cells + (whole ? 2 : 0));
  if (whole) {
    EXPECT_EQ(stream.cells.position(tiny.cells), -1);
  }
  EXPECT_EQ(stream.beyond.size(), tiny.dialect.lists_all ? 1U : 0U);
  for (std::size_t i = 0; i < tiny.cells; ++i) {
    EXPECT_EQ(stream.cells.position(i), static_cast<Position>(i));
    const CellExtra extra = stream.cells.extra(i);
    const bool token = tiny.dialect.extension == CellExtension::xy_token;
    const bool place = tiny.dialect.extension != CellExtension::none;
    EXPECT_EQ(extra.token, token ? 40 + static_cast<TokenId>(i) : CellExtra().token);
    EXPECT_EQ(extra.y, place ? static_cast<int>(i) : 0);
  }
}

// Elements of a row of V in a cache whose K has two. Until 2024 there was one width for both.
std::uint64_t v_width(const TinyDump& tiny, const Layer& layer) {
  if (layer.v.orientation == Orientation::absent) return 0;
  const HeaderStruct header = tiny.dialect.header;
  return header == HeaderStruct::none || header >= HeaderStruct::s84a ? 3 : 2;
}

TEST(Layouts, CellsAndShapesAreWhatWasWritten) {
  for (const TinyDump& tiny : tiny_dumps()) {
    SCOPED_TRACE(tiny.layout);
    const ByteVector bytes = build(tiny);
    const auto dump = open(bytes);
    EXPECT_EQ(dump->tokens.words.size(), has_tokens(tiny.dialect) ? tiny.cells : 0);
    for (const Memory& memory : dump->state.memories) {
      if (memory.kind != MemoryKind::attention) continue;
      ASSERT_EQ(memory.streams.size(), tiny.streams);
      expect_cells(memory.streams.front(), tiny);
      if (tiny.cells == 0) continue;
      const Layer& layer = memory.streams.front().layers.at(1);
      EXPECT_EQ(layer.k.type, tiny.single ? ElementType::f32 : ElementType::f16);
      EXPECT_EQ(dimension(layer.k), tiny.dialect.scrambled ? 8U : 2U);
      EXPECT_EQ(dimension(layer.v), tiny.dialect.scrambled ? 8U : v_width(tiny, layer));
      EXPECT_EQ(memory.streams.front().rot_k, tiny.dialect.rotation ? 64U : 0U);
    }
  }
}

TEST(Layouts, TheTailIsReadDownToItsCells) {
  const ByteVector bytes = build(tiny_dump("ggsq4.streams.rot/kv"));
  const auto dump = open(bytes);
  ASSERT_EQ(dump->tail.checkpoints.size(), 1U);
  const Checkpoint& checkpoint = dump->tail.checkpoints.front();
  EXPECT_EQ(checkpoint.tokens, 2U);
  EXPECT_EQ(checkpoint.pos_max, 1);
  ASSERT_TRUE(checkpoint.target.state) << checkpoint.target.problem;
  EXPECT_EQ(checkpoint.target.state->memories.front().streams.front().cells.size(), 3U);
  ASSERT_TRUE(dump->tail.has_draft);
  EXPECT_TRUE(dump->tail.draft.state) << dump->tail.draft.problem;
}

// The bytes of cells lie where the description says: R before S, K before V, V by channel.
TEST(Layouts, TransposedAndStraightValuesHaveTheirOwnPlaces) {
  TinyDump tiny = tiny_dump("ggsn11.streams.rot/kv");
  const ByteVector rows = build(tiny);
  tiny.transposed = true;
  const ByteVector columns = build(tiny);
  const auto straight = open(rows);
  const auto turned = open(columns);
  const Stream& a = straight->state.memories.front().streams.front();
  const Stream& b = turned->state.memories.front().streams.front();
  const ByteVector row = cell_payload(*straight, a, a.layers[0].v, 1);
  const ByteVector column = cell_payload(*turned, b, b.layers[0].v, 1);
  EXPECT_EQ(row, read_extent(*straight, a.layers[0].v.extent.offset + 6, 6));
  ASSERT_EQ(column.size(), 6U);
  for (std::size_t channel = 0; channel < 3; ++channel)
    EXPECT_EQ(peek<std::uint16_t>(column, channel * 2),
              peek<std::uint16_t>(columns, b.layers[0].v.extent.offset + (channel * 3 + 1) * 2));
}

}  // namespace
}  // namespace kvtool::test
