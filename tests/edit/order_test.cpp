// swap, move and defrag: cells change their places and nothing else does. Checked on made dumps and
// on every genuine one, with inputs that must fail each check.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/map.h"
#include "support/contents.h"
#include "support/made_dump.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

using DumpPtr = std::shared_ptr<const Dump>;

struct Named {
  std::string name;
  DumpPtr dump;
};

// Sequences that share a prefix, cells that nobody uses, in every order.
std::vector<Named> made_dumps() {
  std::vector<Named> dumps;
  for (const bool transposed : {false, true})
    for (const CellOrder order : {CellOrder::tidy, CellOrder::runs, CellOrder::random}) {
      Shape shape;
      shape.v_transposed = transposed;
      shape.order = order;
      shape.sequences = 3;
      shape.shared = 7;
      shape.unused = 4;
      shape.cells = 46;
      shape.streams = transposed ? 2 : 1;
      dumps.push_back({"made", made_dump(shape)});
    }
  return dumps;
}

Shape slot_shape() {
  Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.order = CellOrder::random;
  shape.window = 16;
  shape.recurrent = true;
  shape.checkpoints = 2;
  return shape;
}

// Those of a folder that open; that all open which should is what corpus_test sees to. Sessions of
// before August 2024 keep the places of unused cells, and have tests of their own (old_layouts_test),
// as have files whose cells cannot be moved (q8_kv_test).
void add_dumps_below(const std::filesystem::path& folder, std::vector<Named>& dumps) {
  for (const auto& path : dumps_below(folder)) {
    try {
      const auto dump = std::make_shared<const Dump>(open_dump(path.string()));
      if (dump->dialect.body == Body::current && !has_misaligned_rows(*dump))
        dumps.push_back({path.string(), dump});
    } catch (const Error&) {
      continue;
    }
  }
}

std::vector<Named> all_dumps() {
  std::vector<Named> dumps = made_dumps();
  dumps.push_back({"made slot", made_dump(slot_shape())});
  add_dumps_below(testdata(), dumps);
  if (const char* larger = std::getenv("KVTOOL_CORPUS")) add_dumps_below(larger, dumps);
  EXPECT_GT(dumps.size(), 100U);
  return dumps;
}

// Calls f(memory, stream, cells) for every stream that an edit can name and that has two cells.
template <class F>
void for_each_editable(const Dump& dump, F&& f) {
  for (std::uint32_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::uint32_t s = 0; s < dump.state.memories[m].streams.size(); ++s) {
      const auto cells =
          static_cast<std::uint32_t>(dump.state.memories[m].streams[s].cells.size());
      if (cells >= 2) f(m, s, cells);
    }
}

const CellTable& first_cells(const Dump& dump) { return dump.state.memories[0].streams[0].cells; }

// The tail of a slot file, from its first byte to its last.
ByteVector tail_of(const Dump& dump) {
  Bytes tail;
  for (const MapRange& range : map_of(dump))
    if (range.label.rfind("tail.", 0) == 0) tail.append(read_extent(dump, range.offset, range.size));
  return tail.get();
}

TEST(Swap, TwiceGivesBackTheFile) {
  for (const auto& [name, dump] : all_dumps())
    for_each_editable(*dump, [&, n = name, d = dump](std::uint32_t m, std::uint32_t s,
                                                     std::uint32_t cells) {
      const DumpPtr once = applied(swap(d, {m, s, 0}, {m, s, cells - 1}));
      EXPECT_NE(bytes_of(*once), bytes_of(*d)) << n;
      EXPECT_EQ(bytes_of(*applied(swap(once, {m, s, cells - 1}, {m, s, 0}))), bytes_of(*d)) << n;
    });
}

TEST(Swap, PutsEachCellInTheOthersPlace) {
  for (const auto& [name, dump] : made_dumps()) {
    const DumpPtr after = applied(swap(dump, {0, 0, 3}, {0, 0, 40}));
    const Stream& a = dump->state.memories[0].streams[0];
    const Stream& b = after->state.memories[0].streams[0];
    for (const auto& [from, to] : {std::pair<std::size_t, std::size_t>{3, 40}, {40, 3}, {7, 7}}) {
      EXPECT_EQ(label_of(a.cells, from), label_of(b.cells, to));
      EXPECT_EQ(whole_payload(*dump, a, from), whole_payload(*after, b, to));
    }
  }
}

TEST(Swap, KeepsWhatEveryCellHolds) {
  for (const auto& [name, dump] : all_dumps())
    for_each_editable(*dump, [&, n = name, d = dump](std::uint32_t m, std::uint32_t s,
                                                     std::uint32_t cells) {
      const DumpPtr after = applied(swap(d, {m, s, 0}, {m, s, cells / 2}));
      EXPECT_EQ(contents_of(*after), contents_of(*d)) << n;
      EXPECT_EQ(tail_of(*after), tail_of(*d)) << n;
    });
}

TEST(Swap, ComparisonNoticesLabelsThatMovedAlone) {
  for (const auto& [name, dump] : made_dumps()) {
    Plan plan = swap(dump, {0, 0, 3}, {0, 0, 40});
    plan.stream(0, 0).origin = Plan::of(dump).stream(0, 0).origin;
    EXPECT_NE(contents_of(*applied(plan)), contents_of(*dump));
  }
}

TEST(Swap, ComparisonNoticesDataThatMovedAlone) {
  for (const auto& [name, dump] : made_dumps()) {
    Plan plan = swap(dump, {0, 0, 3}, {0, 0, 40});
    plan.stream(0, 0).cells = first_cells(*dump);
    EXPECT_NE(contents_of(*applied(plan)), contents_of(*dump));
  }
}

TEST(Swap, RefusesCellsThatAreNotThere) {
  const DumpPtr dump = made_dump({});
  EXPECT_THROW(static_cast<void>(swap(dump, {0, 0, 0}, {0, 0, 48})), Error);
  EXPECT_THROW(static_cast<void>(swap(dump, {0, 1, 0}, {0, 1, 1})), Error);
  EXPECT_THROW(static_cast<void>(swap(dump, {1, 0, 0}, {1, 0, 1})), Error);
  EXPECT_NO_THROW(static_cast<void>(swap(dump, {0, 0, 0}, {0, 0, 47})));
}

TEST(Move, ThereAndBackGivesBackTheFile) {
  for (const auto& [name, dump] : all_dumps())
    for_each_editable(*dump, [&, n = name, d = dump](std::uint32_t m, std::uint32_t s,
                                                     std::uint32_t cells) {
      const std::uint32_t count = cells / 2;
      const std::uint32_t to = cells - count;
      const DumpPtr there = applied(move(d, {m, s, 0}, to, count));
      EXPECT_NE(bytes_of(*there), bytes_of(*d)) << n;
      EXPECT_EQ(contents_of(*there), contents_of(*d)) << n;
      EXPECT_EQ(bytes_of(*applied(move(there, {m, s, to}, 0, count))), bytes_of(*d)) << n;
    });
}

TEST(Move, ShiftsTheCellsBetween) {
  const DumpPtr dump = made_dump({});
  const DumpPtr after = applied(move(dump, {0, 0, 10}, 20, 3));
  const CellTable& cells = first_cells(*after);
  EXPECT_EQ(cells.position(9), 9);
  EXPECT_EQ(cells.position(10), 13);
  EXPECT_EQ(cells.position(19), 22);
  EXPECT_EQ(cells.position(20), 10);
  EXPECT_EQ(cells.position(22), 12);
  EXPECT_EQ(cells.position(23), 23);
}

TEST(Move, RefusesRangesThatLeaveTheStream) {
  const DumpPtr dump = made_dump({});
  EXPECT_THROW(static_cast<void>(move(dump, {0, 0, 40}, 0, 9)), Error);
  EXPECT_THROW(static_cast<void>(move(dump, {0, 0, 0}, 40, 9)), Error);
  EXPECT_THROW(static_cast<void>(move(dump, {0, 0, 0}, 1, 0xffffffff)), Error);
  EXPECT_NO_THROW(static_cast<void>(move(dump, {0, 0, 0}, 40, 8)));
}

TEST(Defrag, KeepsWhatEveryUsedCellHolds) {
  for (const auto& [name, dump] : all_dumps())
    for (const bool stable : {false, true}) {
      const DumpPtr after = applied(defrag(dump, {stable}));
      EXPECT_EQ(state_contents(*after, false), state_contents(*dump, true)) << name;
      EXPECT_EQ(tail_of(*after), tail_of(*dump)) << name;
    }
}

TEST(Defrag, DropsWhatNoSequenceUses) {
  for (const auto& [name, dump] : made_dumps()) {
    const DumpPtr after = applied(defrag(dump, {}));
    EXPECT_EQ(first_cells(*after).size(), 42);
    EXPECT_NE(state_contents(*after, false), state_contents(*dump, false));
  }
}

TEST(Defrag, ASecondTimeChangesNothing) {
  for (const auto& [name, dump] : all_dumps())
    for (const bool stable : {false, true}) {
      const DumpPtr once = applied(defrag(dump, {stable}));
      EXPECT_EQ(bytes_of(*applied(defrag(once, {stable}))), bytes_of(*once)) << name;
    }
}

// Where the cells of a sequence lie.
std::vector<std::size_t> cells_of(const CellTable& cells, SequenceId id) {
  std::vector<std::size_t> found;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    const auto ids = cells.sequences(cell);
    if (std::find(ids.begin(), ids.end(), id) != ids.end()) found.push_back(cell);
  }
  return found;
}

// True when each cell follows the one before at once, with a higher position.
bool is_a_run(const CellTable& cells, std::span<const std::size_t> list) {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i] != list[i - 1] + 1 || cells.position(list[i]) <= cells.position(list[i - 1]))
      return false;
  return true;
}

// The seven shared cells of made_dumps() come first; what a sequence has of its own is one run
// behind them, for the first sequence without a gap.
bool is_in_order(const CellTable& cells) {
  for (SequenceId id = 0; id < 3; ++id) {
    const auto list = cells_of(cells, id);
    const auto shared = std::span(list).first(7);
    if (shared.front() != 0 || !is_a_run(cells, shared)) return false;
    if (!is_a_run(cells, std::span(list).subspan(7))) return false;
  }
  return is_a_run(cells, cells_of(cells, 0));
}

TEST(Defrag, MakesSequencesOfATreeAscendingRuns) {
  for (const auto& [name, dump] : made_dumps()) {
    const DumpPtr after = applied(defrag(dump, {}));
    EXPECT_TRUE(is_in_order(first_cells(*after)));
    EXPECT_FALSE(is_in_order(first_cells(*applied(swap(after, {0, 0, 9}, {0, 0, 10})))));
    EXPECT_FALSE(is_in_order(first_cells(*applied(swap(after, {0, 0, 9}, {0, 0, 30})))));
  }
}

TEST(Defrag, StableKeepsTheOrder) {
  for (const auto& [name, dump] : made_dumps()) {
    const CellTable& before = first_cells(*dump);
    const DumpPtr after = applied(defrag(dump, {true}));
    std::size_t at = 0;
    for (std::size_t cell = 0; cell < before.size(); ++cell)
      if (!before.sequences(cell).empty()) {
        EXPECT_EQ(label_of(first_cells(*after), at++), label_of(before, cell));
      }
    EXPECT_EQ(at, first_cells(*after).size());
  }
}

// Two caches with the same cells in the same order, as an index cache has them.
DumpPtr paired_dump() {
  Shape shape;
  shape.order = CellOrder::random;
  shape.window = shape.cells;
  return made_dump(shape);
}

bool in_step(const Dump& dump) {
  return first_cells(dump) == dump.state.memories[1].streams[0].cells;
}

TEST(PairedCaches, StayInStep) {
  const DumpPtr dump = paired_dump();
  ASSERT_TRUE(in_step(*dump));
  for (const Plan& plan : {swap(dump, {0, 0, 3}, {0, 0, 40}), swap(dump, {1, 0, 3}, {1, 0, 40}),
                           move(dump, {1, 0, 3}, 30, 5), defrag(dump, {})}) {
    const DumpPtr after = applied(plan);
    EXPECT_TRUE(in_step(*after));
    EXPECT_NE(first_cells(*after), first_cells(*dump));
    EXPECT_EQ(contents_of(*after), contents_of(*dump));
  }
}

TEST(PairedCaches, ComparisonNoticesOneThatWasLeftBehind) {
  const DumpPtr dump = paired_dump();
  Plan plan = swap(dump, {0, 0, 3}, {0, 0, 40});
  plan.target.state.memories[1] = dump->state.memories[1];
  EXPECT_FALSE(in_step(*applied(plan)));
}

TEST(PairedCaches, IndependentOnesAreLeftAlone) {
  Shape shape;
  shape.window = 20;
  const DumpPtr dump = made_dump(shape);
  const DumpPtr after = applied(swap(dump, {0, 0, 3}, {0, 0, 10}));
  const Stream& window = dump->state.memories[1].streams[0];
  const Stream& same = after->state.memories[1].streams[0];
  EXPECT_EQ(window.cells, same.cells);
  for (std::size_t cell = 0; cell < window.cells.size(); ++cell)
    EXPECT_EQ(whole_payload(*dump, window, cell), whole_payload(*after, same, cell));
}

TEST(Tail, ComparisonNoticesAChangedCheckpoint) {
  const DumpPtr dump = made_dump(slot_shape());
  ASSERT_FALSE(tail_of(*dump).empty());
  Plan plan = Plan::of(dump);
  Memory& memory = plan.target.tail.checkpoints[0].target.state->memories[0];
  reorder(memory.streams[0], {1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  EXPECT_NE(tail_of(*applied(plan)), tail_of(*dump));
}

}  // namespace
}  // namespace kvtool::test
