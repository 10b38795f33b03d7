// Layouts in which the place of a recurrent state says whose it is: sessions of before August 2024,
// and those of ik_llama.cpp.
#include <gtest/gtest.h>

#include "edit/edited.h"
#include "edit/state_places.h"
#include "kvtool/edit.h"
#include "kvtool/merge.h"
#include "support/tiny_dump.h"

namespace kvtool::test {
namespace {

// Three sequences with a state each, written by a build of July 2024.
DumpPtr mamba() { return genuine("history/v6-20240719-be0cfb417-mamba-multi.ggsn"); }

const Stream& states_of(const Dump& dump) { return dump.state.memories.back().streams.front(); }

ByteVector state_in(const Dump& dump, std::uint64_t place) {
  return whole_payload(dump, states_of(dump), place);
}

std::vector<SequenceId> ids_in(const Dump& dump, std::size_t place) {
  const auto ids = states_of(dump).cells.sequences(place);
  return {ids.begin(), ids.end()};
}

TEST(StatePlaces, AKeptStateStaysInItsPlace) {
  const DumpPtr before = mamba();
  SequenceEdit edit = SequenceEdit::of(before);
  keep_sequence(edit, 2);
  const DumpPtr after = written(edit.plan);
  ASSERT_EQ(states_of(*after).cells.size(), 3U);
  EXPECT_EQ(ids_in(*after, 0), std::vector<SequenceId>{});
  EXPECT_EQ(states_of(*after).cells.position(0), -1);
  EXPECT_EQ(ids_in(*after, 2), std::vector<SequenceId>{2});
  EXPECT_EQ(state_in(*after, 2), state_in(*before, 2));
  EXPECT_NE(state_in(*before, 2), state_in(*before, 0));  // or the line above says nothing
}

TEST(StatePlaces, ARenamedStateGoesToThePlaceOfItsName) {
  const DumpPtr before = mamba();
  SequenceEdit edit = SequenceEdit::of(before);
  change_positions(edit, {SequenceId{0}, {{0, 100}}, {}});
  rename_sequence(edit, 2, 0);
  const DumpPtr after = written(edit.plan);
  ASSERT_EQ(states_of(*after).cells.size(), 3U);
  EXPECT_EQ(ids_in(*after, 0), std::vector<SequenceId>{0});
  EXPECT_EQ(state_in(*after, 0), state_in(*before, 2));
  EXPECT_EQ(state_in(*after, 1), state_in(*before, 1));
  EXPECT_EQ(ids_in(*after, 2), std::vector<SequenceId>{});
}

TEST(StatePlaces, ACopyStandsInAPlaceOfItsOwn) {
  const DumpPtr before = mamba();
  SequenceEdit edit = SequenceEdit::of(before);
  change_positions(edit, {SequenceId{0}, {{0, 100}}, {}});
  copy_sequence(edit, 1, 0, {0, 100});
  const DumpPtr after = written(edit.plan);
  EXPECT_EQ(ids_in(*after, 0), std::vector<SequenceId>{0});
  EXPECT_EQ(ids_in(*after, 1), std::vector<SequenceId>{1});
  EXPECT_EQ(state_in(*after, 0), state_in(*before, 1));
  EXPECT_EQ(state_in(*after, 1), state_in(*before, 1));
}

TEST(StatePlaces, ThereIsNoneBeyondTheLast) {
  SequenceEdit edit = SequenceEdit::of(mamba());
  EXPECT_EQ(refusal([&] { copy_sequence(edit, 1, 5, {0, 100}); }),
            "the file has places for the recurrent states of 3 sequences, and none for sequence 5");
}

// No program writes such a list, so nothing can be said of its places.
TEST(StatePlaces, StatesElsewhereStayAsTheyAre) {
  auto odd = std::make_shared<Dump>(*mamba());
  CellTable cells;
  for (const SequenceId id : {1, 0, 2}) cells.append(11, std::vector<SequenceId>{id});
  odd->state.memories.back().streams.front().cells = cells;
  SequenceEdit edit = SequenceEdit::of(odd);
  keep_sequence(edit, 0);
  const Stream& left = states_of(edit.plan.target);
  ASSERT_EQ(left.cells.size(), 1U);
  ASSERT_EQ(left.origin.size(), 1U);
  EXPECT_EQ(left.origin[0].first, 1U);
}

TEST(StatePlaces, OrderCannotBeChanged) {
  const std::string why =
      "the place of a recurrent state says which sequence it is of: in another order the sequences "
      "would have each other's";
  EXPECT_EQ(refusal([] { static_cast<void>(swap(mamba(), {0, 0, 0}, {0, 0, 1})); }), why);
  EXPECT_EQ(refusal([] { static_cast<void>(move(mamba(), {0, 0, 0}, 1, 1)); }), why);
  // In other layouts each state names its sequences.
  const DumpPtr later = genuine("history/v8-20240728-4c676c85e-mamba-multi-seq2.ggsq");
  EXPECT_EQ(refusal([&] { static_cast<void>(swap(later, {0, 0, 0}, {0, 0, 0})); }), "");
}

// The fork stores no ids with its states: what is in the second place is read as that of sequence 1.
TEST(StatePlaces, OfTheForkAreKeptToo) {
  const ByteVector bytes = build(tiny_dump("ggsn9.ik/hybrid"));
  const auto before = std::make_shared<const Dump>(open_dump(memory_source("fork", bytes)));
  ASSERT_EQ(states_of(*before).cells.size(), 2U);
  SequenceEdit edit = SequenceEdit::of(before);
  keep_sequence(edit, 1);
  const DumpPtr after = written(edit.plan);
  ASSERT_EQ(states_of(*after).cells.size(), 2U);
  EXPECT_EQ(ids_in(*after, 1), std::vector<SequenceId>{1});
  EXPECT_EQ(state_in(*after, 1), state_in(*before, 1));
  EXPECT_NE(state_in(*before, 1), state_in(*before, 0));
}

TEST(StatePlaces, OfSeveralFilesAreOrderedBySequence) {
  SequenceEdit first = SequenceEdit::of(mamba());
  keep_sequence(first, 1);
  SequenceEdit second = SequenceEdit::of(mamba());
  keep_sequence(second, 0);
  const DumpPtr merged = written(merge_dumps({written(first.plan), written(second.plan)}, {}).plan);
  ASSERT_EQ(states_of(*merged).cells.size(), 2U);
  EXPECT_EQ(ids_in(*merged, 0), std::vector<SequenceId>{0});
  EXPECT_EQ(state_in(*merged, 0), state_in(*mamba(), 0));
  EXPECT_EQ(state_in(*merged, 1), state_in(*mamba(), 1));
}

TEST(StatePlaces, AGapAmongThemIsRefused) {
  SequenceEdit only = SequenceEdit::of(mamba());
  keep_sequence(only, 2);
  const DumpPtr third = written(only.plan);
  EXPECT_NE(refusal([&] { static_cast<void>(merge_dumps({third}, {})); })
                .find("sequence 2 would need the recurrent state of sequence 0 before its own"),
            std::string::npos);
}

}  // namespace
}  // namespace kvtool::test
