// What edits do to checkpoints and draft models, and which of these cannot follow.
#include "edit/tiny_edits.h"
#include "kvtool/edit.h"
#include "kvtool/facts.h"
#include "kvtool/merge.h"

namespace kvtool::test {
namespace {

TEST(RareTails, ADraftModelFollowsACutAndNoMove) {
  const DumpPtr slot = tiny("ggsq4.streams.rot/kv");
  ASSERT_TRUE(slot->tail.has_draft);
  SequenceEdit cut = SequenceEdit::of(slot);
  change_positions(cut, {std::nullopt, {{2, 9}}, {}});
  const DumpPtr shorter = written(cut.plan);
  ASSERT_TRUE(shorter->tail.draft.state);
  EXPECT_EQ(shorter->tail.draft.state->memories[0].streams[0].cells.size(), 2U);
  SequenceEdit moved = SequenceEdit::of(slot);
  change_positions(moved, {std::nullopt, {}, {{{0, 9}, 5}}});
  EXPECT_TRUE(holds(moved.notes, "dropped the draft model's state: it is computed again"));
  EXPECT_FALSE(written(moved.plan)->tail.has_draft);
  SequenceEdit beyond = SequenceEdit::of(slot);
  change_positions(beyond, {std::nullopt, {{7, 9}}, {}});
  EXPECT_EQ(beyond.plan.target.tail.draft.state->memories[0].streams[0].cells.size(), 3U);
}

TEST(RareTails, AppendingDropsTheDraft) {
  const DumpPtr slot = tiny("ggsq4.streams.rot/kv");
  EXPECT_TRUE(holds(append_dumps({slot, slot}, {}).notes, "dropped the draft model's state"));
}

TEST(RareTails, ACheckpointMustBeOfTheFilesMemories) {
  auto slot = std::make_shared<Dump>(*tiny("ggsq4.streams.rot/iswa"));
  ASSERT_EQ(slot->tail.checkpoints.size(), 1U);
  slot->tail.checkpoints[0].target.state->memories.back().streams[0].layers.pop_back();
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 0)); }),
            "checkpoint 0 does not belong to the memories of this file");
  EXPECT_FALSE(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 1)); }).empty());
}

// Caches that are still empty show no layers.
TEST(RareTails, AnEmptyCheckpointMayBeOfAnyLayers) {
  const auto slot = changeable("ggsq4.streams.rot/iswa");
  for (Memory& memory : slot->tail.checkpoints[0].target.state->memories) {
    Stream& stream = memory.streams[0];
    reorder(stream, {});
    stream.layers.clear();
  }
  const Plan plan = truncate_to_checkpoint(slot, 0);
  EXPECT_EQ(cells_of(plan.target.state.memories.back()), 0U);
}

TEST(RareTails, ACheckpointThatWasNotUnderstoodIsNoWayBack) {
  const auto slot = changeable("ggsq4.streams.rot/iswa");
  slot->tail.checkpoints[0].target.state.reset();
  EXPECT_EQ(refusal([&] { static_cast<void>(truncate_to_checkpoint(slot, 0)); }),
            "checkpoint 0 does not belong to the memories of this file");
  SequenceEdit edit = SequenceEdit::of(slot);
  change_positions(edit, {std::nullopt, {{2, 9}}, {}});
  EXPECT_TRUE(holds(edit.notes, "dropped 1 of 1 checkpoints"));
}

// Positions 0 to 2 of a checkpoint: with all of them it moves along, else it goes.
TEST(RareTails, ACheckpointMovesAlongOrGoes) {
  const auto checkpoints_after = [](const DumpPtr& dump, const PositionChange& change) {
    SequenceEdit edit = SequenceEdit::of(dump);
    change_positions(edit, change);
    return edit.plan.target.tail.checkpoints;
  };
  const auto slot = changeable("ggsq4.streams.rot/kv");
  const auto moved = checkpoints_after(slot, {std::nullopt, {}, {{{0, 9}, 5}}});
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].pos_min, 5);
  EXPECT_EQ(moved[0].pos_max, 6);
  EXPECT_EQ(moved[0].target.state->memories[0].streams[0].cells.position(2), 7);
  EXPECT_TRUE(checkpoints_after(slot, {std::nullopt, {}, {{{1, 9}, 5}}}).empty());
  EXPECT_TRUE(checkpoints_after(slot, {std::nullopt, {}, {{{0, 2}, 5}, {{2, 3}, 7}}}).empty());
  slot->tokens = decode_tokens({1, 2});  // it cannot be said how many tokens it would stand for
  EXPECT_TRUE(checkpoints_after(slot, {std::nullopt, {}, {{{0, 9}, 5}}}).empty());
}

TEST(RareTails, ADraftModelThatCannotFollowIsDropped) {
  const auto slot = changeable("ggsq4.streams.rot/kv");
  slot->tail.draft = changeable("ggsq4.streams.rot/hybrid")->tail.draft;  // with a recurrent state
  EXPECT_FALSE(truncate(slot, 2).target.tail.has_draft);
  EXPECT_TRUE(
      holds(without(slot, std::nullopt, {{2, 9}}).notes, "dropped the draft model's state"));
  slot->tail.draft.state.reset();  // not understood
  EXPECT_FALSE(truncate(slot, 2).target.tail.has_draft);
  EXPECT_TRUE(
      holds(without(slot, std::nullopt, {{2, 9}}).notes, "dropped the draft model's state"));
}

// It has fewer cells than the tokens before the cut: which ones to drop is not known.
TEST(RareTails, ADraftModelWithOtherPositionsIsDropped) {
  const auto slot = changeable("ggsq4.streams.rot/kv");
  slot->tail.draft.state->memories[0].streams[0].cells = cells_at({0, 3, 4});
  EXPECT_FALSE(truncate(slot, 2).target.tail.has_draft);
  slot->tail.draft.state->memories[0].streams[0].cells = cells_at({0, 1, 4});
  EXPECT_TRUE(truncate(slot, 2).target.tail.has_draft);
  slot->tail.draft.state->memories[0].streams[0].cells = cells_at({0, 0, 1});
  EXPECT_TRUE(truncate(slot, 2).target.tail.has_draft);  // none of them is cut off
}

}  // namespace
}  // namespace kvtool::test
