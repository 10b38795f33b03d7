// Random dumps of every layout: read to the last byte as what they are, and rewritten as they were.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kvtool/open.h"
#include "pack/packed.h"
#include "support/random_dump.h"
#include "support/sound.h"
#include "support/views.h"

namespace kvtool::test {
namespace {

constexpr std::uint64_t seeds = 12;

// Calls f(tiny, bytes, dump) for random dumps of each layout. Those of version 0 have 2 MiB each.
template <class F>
void for_each_random(F&& f) {
  for (const TinyDump& layout : tiny_dumps())
    for (std::uint64_t seed = 1; seed <= (layout.dialect.body == Body::pool ? 1 : seeds); ++seed) {
      const TinyDump tiny = randomised(layout, seed);
      SCOPED_TRACE(testing::Message() << layout.layout << ", seed " << seed);
      const ByteVector bytes = build(tiny);
      const OpenOptions options{tiny.layout, {}};
      f(tiny, bytes,
        std::make_shared<const Dump>(open_dump(std::make_shared<ViewSource>(bytes), options)));
    }
}

bool has_plain_cells(const TinyDump& tiny) {
  return tiny.pieces.front() == Piece::kv || tiny.pieces.front() == Piece::keys;
}

// Empty if the cells of a stream are the generator's; else what differs.
std::string flaw_of_cells(const CellTable& cells, const TinyDump& tiny, std::size_t stream) {
  const std::uint32_t expected = cells_of(tiny, stream);
  if (cells.size() < expected) return "cells are missing";
  for (std::uint32_t i = 0; i < expected; ++i) {
    const TinyCell cell = cell_of(tiny, stream, i);
    if (cells.position(i) != cell.position) return fmt::format("position of cell {}", i);
    if (tiny.tables.empty() || tiny.dialect.container == Container::slot ||
        tiny.dialect.container == Container::sequence_state)
      continue;
    const auto ids = cells.sequences(i);
    if (std::vector<SequenceId>(ids.begin(), ids.end()) != cell.ids)
      return fmt::format("sequences of cell {}", i);
  }
  return "";
}

TEST(RandomDumps, AreReadToTheLastByteAndRewrittenAsTheyWere) {
  for_each_random([](const TinyDump&, const ByteVector& bytes, const auto& dump) {
    EXPECT_EQ(flaw_of(dump, bytes), "");
  });
}

TEST(RandomDumps, HaveTheCellsThatWereWritten) {
  for_each_random([](const TinyDump& tiny, const ByteVector&, const auto& dump) {
    if (tiny.pieces.empty() || !has_plain_cells(tiny)) return;
    const auto& streams = dump->state.memories.front().streams;
    ASSERT_EQ(streams.size(), tiny.streams);
    for (std::size_t s = 0; s < streams.size(); ++s)
      EXPECT_EQ(flaw_of_cells(streams[s].cells, tiny, s), "");
  });
}

// Types and widths; where a file does not store types, its bytes fit only these.
TEST(RandomDumps, HaveTheRowsThatWereWritten) {
  for_each_random([](const TinyDump& tiny, const ByteVector&, const auto& dump) {
    if (tiny.pieces.empty() || !has_plain_cells(tiny) || tiny.dialect.scrambled) return;
    for (const Stream& stream : dump->state.memories.front().streams)
      for (const Layer& layer : stream.layers) {
        if (layer.k.orientation == Orientation::absent) continue;  // the gap of a fork's dump
        EXPECT_EQ(layer.k.cell_elements(), tiny.k_width);
        if (tiny.dialect.header != HeaderStruct::none)
          EXPECT_EQ(layer.k.type == ElementType::f32, tiny.single);
        else
          EXPECT_EQ(static_cast<std::uint32_t>(layer.k.type), tiny.type);
      }
  });
}

TEST(RandomDumps, OtherCellsWouldBeNoticed) {
  const TinyDump tiny = randomised(tiny_dump("ggsn11.streams.rot/kv"), 3);
  const ByteVector bytes = build(tiny);
  const Dump dump = open_dump(std::make_shared<ViewSource>(bytes));
  TinyDump other = tiny;
  ASSERT_FALSE(other.tables.at(0).empty());
  ++other.tables[0].back().position;
  EXPECT_NE(flaw_of_cells(dump.state.memories[0].streams[0].cells, other, 0), "");
  other = tiny;
  other.tables[0].front().ids.push_back(9);
  EXPECT_NE(flaw_of_cells(dump.state.memories[0].streams[0].cells, other, 0), "");
}

TEST(RandomDumps, AreNotReadAsALayoutThatDoesNotExist) {
  const ByteVector bytes = build(tiny_dump("ggsn11.streams.rot/kv"));
  try {
    static_cast<void>(open_dump(memory_source("dump", bytes), {"ggsn11.nonsense/kv", {}}));
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.message(), "does not read as ggsn11.nonsense/kv, but as ggsn11.streams.rot/kv");
  }
}

TEST(RandomDumps, ComeBackFromACompressedFile) {
  for_each_random([](const TinyDump&, const ByteVector& bytes, const auto& dump) {
    const auto source = opened_packed(packed(*dump));
    EXPECT_TRUE(unpacked(*source) == bytes);
    EXPECT_EQ(open_dump(source).layout, dump->layout);
  });
}

}  // namespace
}  // namespace kvtool::test
