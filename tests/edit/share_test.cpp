// defrag --share against the slow and obvious way, and what a digest must not be trusted with.
#include "kvtool/share.h"

#include "edit/edited.h"
#include "edit/made_sharing.h"
#include "edit/share_digests.h"
#include "edit/slow_share.h"
#include "kvtool/merge.h"

namespace kvtool::test {
namespace {

std::vector<std::vector<const Stream*>> beside_each_other(const State& state) {
  std::vector<std::vector<const Stream*>> all(state.memories.front().streams.size());
  for (const Memory& memory : state.memories)
    for (std::size_t s = 0; s < all.size(); ++s) all[s].push_back(&memory.streams[s]);
  return all;
}

// The ids of the cells that are left, in the order of the file.
using Ids = std::vector<std::vector<SequenceId>>;

// What the slow way leaves of a stream; cells that never had a sequence stay.
Ids left_of(const CellTable& before, const SlowShare::Owners& owners) {
  Ids ids;
  for (std::size_t c = 0; c < before.size(); ++c)
    if (!owners[c].empty() || before.sequences(c).empty())
      ids.emplace_back(owners[c].begin(), owners[c].end());
  return ids;
}

Ids ids_of(const CellTable& cells) {
  Ids ids;
  for (std::size_t c = 0; c < cells.size(); ++c)
    ids.emplace_back(cells.sequences(c).begin(), cells.sequences(c).end());
  return ids;
}

std::uint64_t cells_in(const Dump& dump) {
  std::uint64_t cells = 0;
  for_each_stream(dump, [&](const Stream& stream) { cells += stream.cells.size(); });
  return cells;
}

// How many cells the slow way folds; compares what is left stream by stream.
std::uint64_t compare(const DumpPtr& dump, const Plan& plan, double tolerance) {
  std::uint64_t folded = 0;
  std::size_t number = 0;
  for (const auto& streams : beside_each_other(dump->state)) {
    const SlowShare slow(*dump, streams, tolerance);
    for (std::size_t m = 0; m < streams.size(); ++m) {
      const Ids expected = left_of(streams[m]->cells, slow.owners(m));
      folded += streams[m]->cells.size() - expected.size();
      EXPECT_EQ(ids_of(plan.target.state.memories[m].streams[number].cells), expected)
          << "memory " << m << " stream " << number;
    }
    ++number;
  }
  return folded;
}

void expect_same_content(const DumpPtr& dump, const DumpPtr& shared) {
  for (std::size_t m = 0; m < dump->state.memories.size(); ++m)
    for (const SequenceId id : sequence_ids(dump->state))
      EXPECT_EQ(seen(*shared, m, id), seen(*dump, m, id)) << "memory " << m << " sequence " << id;
}

TEST(Share, FoldsWhatTheSlowWayFolds) {
  std::uint64_t folded = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const DumpPtr dump = MadeSharing(seed).dump();
    Plan plan = Plan::of(dump);
    const std::uint64_t gone = share_equal_cells(plan);
    EXPECT_EQ(gone, compare(dump, plan, 0));
    EXPECT_EQ(gone, cells_in(*dump) - cells_in(plan.target));
    expect_same_content(dump, applied(plan));
    folded += gone;
  }
  EXPECT_GT(folded, 1000U);  // else nothing was compared
}

// The numbers of some cells are 1/128 off: near enough, but three of them are not near to each
// other, so it matters what was folded before.
TEST(Share, FoldsWhatIsNearAsTheSlowWayDoes) {
  std::uint64_t more = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const DumpPtr dump = MadeSharing(seed).dump();
    Plan plan = Plan::of(dump);
    Plan exact = plan;
    const std::uint64_t gone = share_equal_cells(plan, 0.01);
    EXPECT_EQ(gone, compare(dump, plan, 0.01));
    more += gone - std::min(gone, share_equal_cells(exact));
  }
  EXPECT_GT(more, 100U);
}

// With digests of no bits or one, many different cells look the same: none of them is folded.
TEST(Share, DifferentCellsOfOneDigestAreNotFolded) {
  std::uint64_t fewer = 0;
  for (const std::uint64_t mask : {0U, 1U})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(seed);
      const DumpPtr dump = MadeSharing(seed).dump();
      Plan plan = Plan::of(dump);
      Plan exact = plan;
      fewer += share_equal_cells(exact);
      fewer -= share_by_digests(plan, 0, mask);
      expect_same_content(dump, applied(plan));
    }
  EXPECT_GT(fewer, 100U);  // else the digests were not short enough to mislead
}

// Models with latent attention keep no V.
TEST(Share, FoldsCellsWithoutV) {
  const DumpPtr slot = genuine("server/b0.7.0/deepseek2-mla.ggsq");
  ASSERT_EQ(slot->state.memories[0].streams[0].layers[0].v.orientation, Orientation::absent);
  const MergeOptions twice{.renumber = true, .unified = true, .arch = "deepseek2"};
  const DumpPtr dump = written(merge_dumps({slot, slot}, twice).plan);
  for (const double tolerance : {0.0, 0.01}) {
    Plan plan = Plan::of(dump);
    EXPECT_EQ(share_equal_cells(plan, tolerance), cells_in(*slot));
    expect_same_content(dump, applied(plan));
  }
}

TEST(Share, OneSequenceHasNothingToShare) {
  Plan plan = Plan::of(genuine("server/b0.7.0/deepseek2-mla.ggsq"));
  EXPECT_EQ(refusal([&] { share_equal_cells(plan); }), "one sequence has nothing to share");
}

// Each of them stands for one sequence.
TEST(Share, RecurrentStatesAreNotFolded) {
  const DumpPtr dump = genuine("modern/b11118/mamba-multi.ggsn");
  ASSERT_GT(sequence_ids(dump->state).size(), 1U);
  Plan plan = Plan::of(dump);
  EXPECT_EQ(share_equal_cells(plan), 0U);
  EXPECT_EQ(cells_in(plan.target), cells_in(*dump));
}

}  // namespace
}  // namespace kvtool::test
