// Window caches: what an edit leaves must be all that the next token looks back to. llama.cpp keeps
// a window without holes, and a server that restores one asks for its oldest position only: a hole
// would go unnoticed, and the model would answer without what was there.
#include <numeric>

#include "edit/tiny_edits.h"
#include "kvtool/edit.h"

namespace kvtool::test {
namespace {

constexpr std::int64_t open_end = 1000;

// A slot of `cells` positions, of which the window has those in `held`.
DumpPtr slot_with_window(std::uint32_t cells, const std::vector<Position>& held) {
  TinyDump tiny = tiny_dump("ggsq4.streams.rot/iswa");
  tiny.cells = cells;
  tiny.checkpoints = false;
  auto dump = std::make_shared<Dump>(*opened(tiny));
  Stream& window = dump->state.memories.at(1).streams.at(0);
  reorder(window, {held.begin(), held.end()});
  return dump;
}

std::vector<Position> range(Position begin, Position end) {
  std::vector<Position> positions(static_cast<std::size_t>(end - begin));
  std::iota(positions.begin(), positions.end(), begin);
  return positions;
}

std::string cut_refusal(const DumpPtr& dump, std::uint64_t tokens, std::uint32_t window = 0) {
  return refusal([&] { static_cast<void>(truncate(dump, tokens, {window})); });
}

// The same by seq rm, which follows the same rule.
std::string removal_refusal(const DumpPtr& dump, std::int64_t from, std::uint32_t window = 0) {
  PositionOptions options;
  options.window = window;
  return refusal([&] {
    static_cast<void>(without(dump, std::nullopt, {{from, open_end}}, options));
  });
}

std::vector<Position> window_after(const Plan& plan) {
  const DumpPtr dump = written(plan);
  const CellTable& cells = dump->state.memories.at(1).streams.at(0).cells;
  std::vector<Position> positions;
  for (std::size_t c = 0; c < cells.size(); ++c) positions.push_back(cells.position(c));
  return positions;
}

TEST(Window, AHoleBeforeTheCutIsRefused) {
  const DumpPtr dump = slot_with_window(4, {0, 2, 3});
  for (const std::uint64_t tokens : {2U, 3U}) {
    EXPECT_TRUE(holds(cut_refusal(dump, tokens), "can be cut is 4")) << tokens;
    EXPECT_TRUE(holds(removal_refusal(dump, static_cast<std::int64_t>(tokens)), "can be cut is 4"));
  }
  EXPECT_EQ(cut_refusal(slot_with_window(4, range(0, 4)), 2), "");
}

// Nobody looks for what comes behind.
TEST(Window, AHoleBehindTheCutGoesWithIt) {
  const DumpPtr dump = slot_with_window(4, {0, 2, 3});
  EXPECT_EQ(window_after(truncate(dump, 1)), (std::vector<Position>{0}));
  EXPECT_EQ(removal_refusal(dump, 1), "");
  EXPECT_EQ(cut_refusal(dump, 0), "");
  EXPECT_EQ(cut_refusal(dump, 4), "");  // nothing is cut
}

// Position 7 looks back to 3 with a window of 4, and the hole is at 1.
TEST(Window, AHoleOutOfReachDoesNoHarm) {
  const DumpPtr dump = slot_with_window(10, {0, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(window_after(truncate(dump, 7, {4})), (std::vector<Position>{0, 2, 3, 4, 5, 6}));
  EXPECT_EQ(cut_refusal(dump, 6, 4), "");
  EXPECT_EQ(
      cut_refusal(dump, 5, 4),
      "the window cache begins at position 2: the oldest position at which it can be cut is 6");
}

// What lacks the newest positions may still be whole at an earlier one.
TEST(Window, TheEndCanBeMissingToo) {
  const DumpPtr dump = slot_with_window(6, {0, 1, 2});
  EXPECT_TRUE(holds(cut_refusal(dump, 5, 2), "can be cut is 6"));
  EXPECT_TRUE(holds(cut_refusal(dump, 4, 2), "can be cut is 6"));
  EXPECT_EQ(window_after(truncate(dump, 3, {2})), range(0, 3));
}

TEST(Window, AnEmptyOneAsksForNothing) {
  const DumpPtr dump = slot_with_window(6, {});
  EXPECT_EQ(cut_refusal(dump, 3), "");
  EXPECT_EQ(removal_refusal(dump, 3), "");
}

TEST(Window, AllGoneIsNoCut) {
  EXPECT_EQ(removal_refusal(slot_with_window(6, {4, 5}), 0), "");
  EXPECT_EQ(cut_refusal(slot_with_window(6, {4, 5}), 0), "");
}

// Positions that left the window long ago would become the last.
TEST(Window, WhatHasLeftItCannotComeBackAtTheEnd) {
  SequenceEdit edit = SequenceEdit::of(slot_with_window(8, {4, 5, 6, 7}));
  EXPECT_EQ(refusal([&] {
              change_positions(edit, {std::nullopt, {}, {{{0, 2}, 10}}});
            }),
            "the next token would look back to position 10, which has left the window cache; the "
            "window cache begins at position 4: the oldest position at which it can be cut is 8 "
            "(its end; less if the length of the window is given)");
  change_positions(edit, {std::nullopt, {{0, 2}}, closing_moves({{0, 2}})});
  EXPECT_EQ(window_after(edit.plan), range(2, 6));
}

// Without the length of the window, a removal in the middle must leave as much as was there.
TEST(Window, AGapOfAllCachesIsNoHole) {
  const DumpPtr dump = slot_with_window(8, {4, 5, 6, 7});
  SequenceEdit edit = without(dump, std::nullopt, {{5, 6}});
  EXPECT_EQ(window_after(edit.plan), (std::vector<Position>{4, 6, 7}));
}

TEST(Window, CheckpointsAreNamedAsAWayBack) {
  const DumpPtr dump = genuine("server/b0.7.0/gemma3-2turns.ggsq");  // 59 tokens, window from 47
  const std::string why =
      "the window cache begins at position 47: the oldest position at which it can be cut is 59; "
      "there are checkpoints at 25, 29, 50 tokens";
  EXPECT_EQ(cut_refusal(dump, 58, 12), why);
  EXPECT_EQ(removal_refusal(dump, 58, 12), why);
}

}  // namespace
}  // namespace kvtool::test
