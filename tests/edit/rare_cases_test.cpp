// Edits at their limits: compressed caches, orders, rotations, ids and positions.
#include <fmt/format.h>

#include "edit/known_rotation.h"
#include "edit/tiny_edits.h"
#include "kvtool/edit.h"
#include "kvtool/facts.h"
#include "kvtool/merge.h"

namespace kvtool::test {
namespace {

TEST(RareCaches, CompressedOnesAreLeftAlone) {
  const DumpPtr dump = tiny_of_one_sequence("ggsn11.streams.rot/dsv4");
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate(dump, 2)); }),
            "a compressed cache cannot be cut");
  SequenceEdit edit = SequenceEdit::of(dump);
  EXPECT_EQ(refusal([&] {
              change_positions(edit, {std::nullopt, {{2, 9}}, {}});
            }),
            "a compressed cache cannot be edited by position");
  const std::string words = "the sequences of a compressed cache cannot be changed";
  EXPECT_EQ(refusal([&] { keep_sequence(edit, 0); }), words);
  EXPECT_EQ(refusal([&] { rename_sequence(edit, 0, 5); }), words);
  EXPECT_EQ(refusal([&] { copy_sequence(edit, 0, 5, {0, 9}); }), words);
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate(dump, 3)); }), "");  // all of it stays
}

TEST(RareCaches, CompressedOnesDoNotGoBack) {
  const auto slot = changeable("ggsq4.streams.rot/kv");
  slot->state.memories.push_back(tiny("ggsn11.streams.rot/dsv4")->state.memories.back());
  ASSERT_EQ(slot->state.memories.back().kind, MemoryKind::verbatim);
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 0)); }),
            "a compressed cache cannot be cut");
}

TEST(RareCaches, ARecurrentStateLosesAllOrNothing) {
  const DumpPtr dump = tiny("ggsq4/recurrent");  // one state, of positions 0 to 2
  for (const PositionRange& some : {PositionRange{0, 2}, PositionRange{1, 3}})
    EXPECT_EQ(refusal([&] { static_cast<void>(without(dump, std::nullopt, {some})); }),
              "a recurrent state stands for all 3 positions together and cannot lose some of them");
  EXPECT_EQ(cells_of(without(dump, std::nullopt, {{0, 3}}).plan.target.state.memories[0]), 0U);
  EXPECT_EQ(cells_of(without(dump, std::nullopt, {{3, 9}}).plan.target.state.memories[0]), 1U);
}

// Builds of before March 2024 lost K and V of cells behind the last one in use.
TEST(RareCaches, CellsWithoutKeysAreNoSequence) {
  const auto dump = changeable("ggsn4.s96.all/kv");
  dump->state.memories[0].streams[0].beyond = cells_at({0, 1}, {7});
  SequenceEdit edit = SequenceEdit::of(dump);
  EXPECT_EQ(refusal([&] { keep_sequence(edit, 7); }),
            "the cells of sequence 7 are listed without K and V: the build that saved them lost "
            "their content");
  EXPECT_TRUE(
      holds(refusal([&] { keep_sequence(edit, 8); }), "no cell belongs to sequence 8; there"));
}

// Only cells show some choices of a layout; who asks for it by name has made them.
TEST(RareCaches, WithoutCellsOpenAsTheLayoutThatIsAskedFor) {
  std::size_t empty = 0;
  for (const TinyDump& some : tiny_dumps()) {
    if (some.dialect.extension == CellExtension::none || some.pieces != std::vector{Piece::kv})
      continue;
    TinyDump dump = some;
    dump.tables = {{}};
    SCOPED_TRACE(dump.layout);
    const DumpPtr opened_again = opened(dump);
    EXPECT_EQ(cells_of(opened_again->state.memories[0]), 0U);
    EXPECT_EQ(opened_again->dialect, dump.dialect);
    ++empty;
  }
  EXPECT_GE(empty, 4U);
}

TEST(RareSequences, ItsOwnNameChangesNothing) {
  const DumpPtr dump = tiny("ggsn11.streams.rot/kv");
  SequenceEdit edit = SequenceEdit::of(dump);
  rename_sequence(edit, 1, 1);
  copy_sequence(edit, 0, 0, {0, 9});
  EXPECT_EQ(edit.plan.target.state.memories[0].streams[0].cells,
            dump->state.memories[0].streams[0].cells);
  EXPECT_TRUE(edit.notes.empty());
}

// Each sequence has a stream, and the second cells of its own already.
TEST(RareSequences, ACopyJoinsTheCellsOfItsStream) {
  TinyDump made = tiny_dump("ggsn9.outputs.streams/kv");
  made.tables = {{{0, {0}}, {1, {0}}, {2, {0}}}, {{5, {1}}}};
  const DumpPtr before = opened(made);
  SequenceEdit edit = SequenceEdit::of(before);
  copy_sequence(edit, 0, 1, {1, 3});
  const DumpPtr after = written(edit.plan);
  EXPECT_EQ(seen(*after, 0, 0), seen(*before, 0, 0));
  std::vector<SeenCell> expected = seen(*before, 0, 0);
  expected.erase(expected.begin());
  expected.push_back(seen(*before, 0, 1).at(0));
  EXPECT_EQ(seen(*after, 0, 1), expected);
}

TEST(RareSequences, ARecurrentStateIsCopiedWhole) {
  const DumpPtr dump = genuine("modern/b11118/mamba-multi.ggsn");
  const Position last = positions(*dump, 0, 0).at(0);
  SequenceEdit edit = SequenceEdit::of(dump);
  for (const PositionRange& some : {PositionRange{0, last}, PositionRange{1, last + 1}})
    EXPECT_EQ(refusal([&] { copy_sequence(edit, 0, 7, some); }),
              fmt::format("a recurrent state stands for all {} positions together; copy them all",
                          last + 1));
  EXPECT_TRUE(holds(refusal([&] {
                      copy_sequence(edit, 0, 1, {0, 0});
                    }),
                    "sequence 1 has a cell at position"));
  copy_sequence(edit, 0, 7, {0, last + 1});
  EXPECT_EQ(seen(*written(edit.plan), 0, 7), seen(*dump, 0, 0));
}

TEST(RareSequences, CellsWithoutIdsCannotBeRenamed) {
  SequenceEdit edit = SequenceEdit::of(tiny("ggsq2.flat.noids/kv"));
  EXPECT_EQ(refusal([&] { rename_sequence(edit, 0, 5); }),
            "the cells of this file name no sequence");
  SequenceEdit named = SequenceEdit::of(tiny("ggsq2.flat/kv"));
  rename_sequence(named, 0, 5);
  EXPECT_EQ(sequence_ids(named.plan.target.state), (std::set<SequenceId>{5}));
}

TEST(RareOrders, CellsOfTwoCachesAreNotExchanged) {
  const DumpPtr dump = tiny("ggsn11.streams.rot/iswa");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(swap(dump, {0, 0, 0}, {1, 0, 0}));
            }),
            "only cells of one stream can be exchanged");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(swap(tiny("ggsn9.outputs.streams/kv"), {0, 0, 0}, {0, 1, 0}));
            }),
            "only cells of one stream can be exchanged");
}

TEST(RareOrders, AMoveNamesCells) {
  EXPECT_EQ(refusal([] {
              static_cast<void>(move(tiny("ggsn9.streams/kv"), {0, 0, 1}, 0, 0));
            }),
            "at least one cell must be named");
}

TEST(RareNotes, AreSaidOnce) {
  SequenceEdit edit = SequenceEdit::of(tiny("ggsn9.streams/kv"));
  edit.note("a");
  edit.note("b");
  edit.note("a");
  EXPECT_EQ(edit.notes, (std::vector<std::string>{"a", "b"}));
}

TEST(RareNotes, NothingIsSaidOfTokensWhereNoneAreStored) {
  const SequenceEdit edit = without(tiny("raw.streams.rot/kv"), SequenceId{0}, {{2, 9}});
  EXPECT_TRUE(edit.notes.empty());
  EXPECT_EQ(positions(*written(edit.plan), 0, 0), (std::vector<Position>{0, 1}));
}

TEST(RareRotations, WhatIsOlderOrNoAttentionNeedsNoWord) {
  TinyDump old = tiny_dump("ggsn9.outputs.flat/kv");
  old.type = 8;
  old.k_width = old.v_width = 64;
  EXPECT_EQ(refusal([&] {
              static_cast<void>(with_key_rotation(opened(old), StatedRotation::unknown, {}));
            }),
            "");
  const DumpPtr states = tiny("ggsn8.rng.outputs/recurrent");
  auto later = std::make_shared<Dump>(*tiny("ggsn11/recurrent"));
  later->dialect.rotation = false;
  for (const DumpPtr& dump : {states, DumpPtr(later)})
    EXPECT_EQ(refusal(
                  [&] { static_cast<void>(with_key_rotation(dump, StatedRotation::unknown, {})); }),
              "");
}

TEST(RareRotations, QuantizedKNeedsAWord) {
  TinyDump made = tiny_dump("ggsn10.streams/kv");
  made.type = 8;
  made.transposed = false;
  made.k_width = made.v_width = 64;
  const DumpPtr dump = opened(made);
  const auto why = [&](StatedRotation stated, const std::optional<ModelShape>& model) {
    return refusal([&] { static_cast<void>(with_key_rotation(dump, stated, model)); });
  };
  EXPECT_TRUE(holds(why(StatedRotation::unknown, {}), "whether its quantized K is rotated"));
  EXPECT_TRUE(holds(why(StatedRotation::hadamard, {}), "depends on the head size"));
  EXPECT_EQ(why(StatedRotation::none, {}), "");
  ModelShape model;
  model.caches.push_back({});
  model.caches[0].role = "main";
  model.caches[0].head_k = 64;
  EXPECT_EQ(why(StatedRotation::hadamard, model), "");
  model.caches[0].head_k = 32;  // heads of this size were never rotated
  EXPECT_EQ(why(StatedRotation::unknown, model), "");
  model.caches[0].role = "window";
  EXPECT_EQ(why(StatedRotation::unknown, model), "");
  made.type = 1;
  EXPECT_EQ(refusal([&] {
              static_cast<void>(with_key_rotation(opened(made), StatedRotation::unknown, {}));
            }),
            "");
  made.type = 8;
  made.k_width = 96;  // no multiple of 64: no head of it is
  EXPECT_EQ(refusal([&] {
              static_cast<void>(with_key_rotation(opened(made), StatedRotation::unknown, {}));
            }),
            "");
  model.caches.clear();
  EXPECT_TRUE(holds(why(StatedRotation::hadamard, model), "depends on the head size"));
  const DumpPtr says = tiny("ggsn11.streams.rot/kv");
  EXPECT_EQ(with_key_rotation(says, StatedRotation::unknown, {}), says);
}

TEST(RareCaches, OldSessionsHoldNoMoreThanTheirCache) {
  const DumpPtr dump = tiny("ggsn6.s120/kv");  // three cells of a cache of five
  EXPECT_TRUE(
      holds(refusal([&] {
              static_cast<void>(written(
                  merge_dumps({dump, dump}, {.renumber = true, .unified = true, .arch = {}}).plan));
            }),
            "has 5 cells, and the output would have 6"));
  SequenceEdit whole = SequenceEdit::of(tiny("ggsn0.j32/kv"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(whole, {std::nullopt, {{2, 9}}, {}});
                      static_cast<void>(written(whole.plan));
                    }),
                    "sessions of version 0"));
}

TEST(RarePositions, RangesMustNotOverlap) {
  SequenceEdit edit = SequenceEdit::of(tiny("ggsn11.streams.rot/kv"));
  EXPECT_EQ(refusal([&] {
              change_positions(edit, {std::nullopt, {}, {{{1, 3}, 4}, {{0, 2}, 9}}});
            }),
            "positions 0:2 and 1:3 overlap");
}

TEST(RarePositions, NothingFollowsAnOpenEnd) {
  constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(closing_moves({{3, open_end}}).empty());
  const std::vector<PositionMove> moves = closing_moves({{1, 2}, {5, open_end}});
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].from, (PositionRange{2, 5}));
  EXPECT_EQ(moves[0].by, -1);
}

TEST(RarePositions, EndAt2147483647) {
  SequenceEdit edit = SequenceEdit::of(tiny("ggsn11.streams.rot/kv"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{0, 9}, 2147483646}}});
                    }),
                    "beyond 2147483647"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{0, 9}, -1}}});
                    }),
                    "would become -1"));
  EXPECT_TRUE(holds(refusal([&] {
                      change_positions(edit, {std::nullopt, {}, {{{2, 3}, -1}}});
                    }),
                    "position 1 would be taken twice"));
  EXPECT_FALSE(refusal([&] {
                 change_positions(edit, {std::nullopt, {{0, 2}}, {{{1, 3}, 4}}});
               }).empty());
}

}  // namespace
}  // namespace kvtool::test
