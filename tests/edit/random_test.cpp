// What must hold for edits of any dump, on random ones of every layout.
#include <fmt/format.h>

#include "edit/edited.h"
#include "format/container.h"
#include "kvtool/edit.h"
#include "support/random_dump.h"
#include "support/sound.h"

namespace kvtool::test {
namespace {

constexpr std::uint64_t seeds = 8;

// Calls f(dump, bytes) for random dumps of each layout whose cells can stand in any order: in
// versions 0 and 1 cell i is position i.
template <class F>
void for_each_random(F&& f) {
  for (const TinyDump& layout : tiny_dumps()) {
    const Body body = layout.dialect.body;
    if (body == Body::pool || body == Body::k_then_v) continue;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      SCOPED_TRACE(testing::Message() << layout.layout << ", seed " << seed);
      const ByteVector bytes = build(randomised(layout, seed));
      const OpenOptions options{layout.layout, {}};
      f(std::make_shared<const Dump>(open_dump(memory_source("random", bytes), options)), bytes);
    }
  }
}

// Calls f(address of the first cell, cells) for the streams of attention caches with two or more.
template <class F>
void for_each_stream_of_two(const Dump& dump, F&& f) {
  for (std::uint32_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::uint32_t s = 0; s < dump.state.memories[m].streams.size(); ++s) {
      const std::size_t cells = dump.state.memories[m].streams[s].cells.size();
      if (dump.state.memories[m].kind == MemoryKind::attention && cells >= 2)
        f(CellAddress{m, s, 0}, static_cast<std::uint32_t>(cells));
    }
}

TEST(RandomEdits, SwappingTwiceGivesBackTheFile) {
  std::size_t swaps = 0;
  for_each_random([&](const DumpPtr& dump, const ByteVector& bytes) {
    for_each_stream_of_two(*dump, [&](CellAddress first, std::uint32_t cells) {
      CellAddress last = first;
      last.cell = cells - 1;
      const DumpPtr once = applied(swap(dump, first, last));
      EXPECT_EQ(contents_of(*once), contents_of(*dump));
      EXPECT_TRUE(rewritten(swap(once, first, last)) == bytes);
      ++swaps;
    });
  });
  EXPECT_GT(swaps, 400U);
}

TEST(RandomEdits, MovingThereAndBackGivesBackTheFile) {
  std::size_t moves = 0;
  for_each_random([&](const DumpPtr& dump, const ByteVector& bytes) {
    for_each_stream_of_two(*dump, [&](CellAddress first, std::uint32_t cells) {
      const std::uint32_t count = cells / 2;
      CellAddress there = first;
      there.cell = cells - count;
      const DumpPtr once = applied(move(dump, first, there.cell, count));
      EXPECT_EQ(contents_of(*once), contents_of(*dump));
      EXPECT_TRUE(rewritten(move(once, there, 0, count)) == bytes);
      ++moves;
    });
  });
  EXPECT_GT(moves, 400U);
}

TEST(RandomEdits, DefragKeepsWhatEveryUsedCellHolds) {
  std::size_t smaller = 0;
  for_each_random([&](const DumpPtr& dump, const ByteVector& bytes) {
    for (const bool stable : {false, true}) {
      const DumpPtr once = applied(defrag(dump, {stable}));
      EXPECT_EQ(state_contents(*once, false), state_contents(*dump, true));
      EXPECT_TRUE(rewritten(defrag(once, {stable})) == bytes_of(*once)) << "a second time";
      if (once->source->size() < bytes.size()) ++smaller;
    }
  });
  EXPECT_GT(smaller, 20U);  // some have cells that nobody uses
}

TEST(RandomEdits, AKeptSequenceIsAsItWas) {
  std::size_t kept = 0;
  for_each_random([&](const DumpPtr& dump, const ByteVector&) {
    if (format::holds_one_sequence(dump->dialect)) return;
    for (SequenceId id = 0; id < 4; ++id) {
      SequenceEdit edit = SequenceEdit::of(dump);
      if (!refusal([&] { keep_sequence(edit, id); }).empty()) continue;
      const DumpPtr after = applied(edit.plan);
      for (std::size_t m = 0; m < dump->state.memories.size(); ++m) {
        EXPECT_EQ(seen(*after, m, id), seen(*dump, m, id)) << id;
        EXPECT_TRUE(seen(*after, m, id == 0 ? 1 : 0).empty()) << id;
      }
      ++kept;
    }
  });
  EXPECT_GT(kept, 200U);
}

// The yardstick of these tests sees one changed byte of one cell.
TEST(RandomEdits, AChangedByteIsSeen) {
  ByteVector bytes = build(randomised(tiny_dump("ggsn11.streams.rot/kv"), 3));
  const auto before = open_dump(memory_source("random", bytes));
  const Stream& stream = before.state.memories[0].streams[0];
  ASSERT_GT(stream.cells.size(), 0U);
  bytes.at(static_cast<std::size_t>(stream.layers.at(0).k.extent.offset)) ^= std::byte{1};
  EXPECT_NE(contents_of(open_dump(memory_source("random", bytes))), contents_of(before));
}

}  // namespace
}  // namespace kvtool::test
