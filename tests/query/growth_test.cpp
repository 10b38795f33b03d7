// No quadratic time: 200,000 cells of 256 sequences take about four times as long as 50,000. Processor
// time is compared, best of three, so that a busy machine does not matter.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "kvtool/check.h"
#include "kvtool/compare.h"
#include "kvtool/edit.h"
#include "kvtool/facts.h"
#include "kvtool/merge.h"
#include "kvtool/open.h"
#include "kvtool/sequences.h"
#include "kvtool/share.h"
#include "kvtool/source.h"
#include "kvtool/write.h"
#include "support/bytes.h"
#include "support/made_dump.h"

namespace kvtool::test {
namespace {

using DumpPtr = std::shared_ptr<const Dump>;
using DumpList = std::vector<DumpPtr>;

constexpr std::uint32_t few = 50'000;
constexpr std::uint32_t factor = 4;
// Linear work would grow 4 times, quadratic 16 times.
constexpr double most_growth = 9;

Shape shape_of(std::uint32_t cells, std::uint32_t sequences) {
  Shape shape;
  shape.cells = cells;
  shape.sequences = sequences;
  shape.shared = 64;
  shape.unused = cells / 10;
  shape.order = CellOrder::random;
  shape.layers = 1;
  shape.width = 32;
  shape.k_type = shape.v_type = ElementType::q8_0;
  return shape;
}

DumpPtr made(std::uint32_t cells, std::uint32_t sequences = 256) {
  return made_dump(shape_of(cells, sequences));
}

class ZeroSink : public MadeSink {
 public:
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void hole(std::uint64_t size) override {
    bytes_.resize(bytes_.size() + static_cast<std::size_t>(size));
  }
  ByteVector bytes_;
};

// All cells hold the same, so that each sequence is like each other to its end.
DumpPtr made_alike(std::uint32_t cells, std::uint32_t sequences) {
  Shape shape = shape_of(cells, sequences);
  shape.shared = 0;
  ZeroSink sink;
  write_made_sparse(made_facts(shape), sink);
  return std::make_shared<const Dump>(open_dump(memory_source("alike", std::move(sink.bytes_))));
}

DumpPtr written(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  return std::make_shared<const Dump>(open_dump(memory_source("written", sink.bytes())));
}

template <class Function>
double seconds_of(const Function& function) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    function();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

class Growth : public ::testing::Test {
 protected:
  static double of(const std::function<void(const DumpPtr&)>& work) {
    static const DumpPtr small = made(few);
    static const DumpPtr large = made(few * factor);
    return of(work, small, large);
  }

  static double of(const std::function<void(const DumpPtr&)>& work, const DumpPtr& small,
                   const DumpPtr& large) {
    const double before = seconds_of([&] { work(small); });
    const double after = seconds_of([&] { work(large); });
    RecordProperty("seconds", std::to_string(after));
    // a thousandth of a second is below what the clock tells apart
    return after / std::max(before, 0.001);
  }
};

TEST_F(Growth, Open) {
  EXPECT_LT(of([](const DumpPtr& d) { static_cast<void>(open_dump(d->source)); }), most_growth);
}

TEST_F(Growth, FactsOfSequences) {
  const double growth = of([](const DumpPtr& d) {
    EXPECT_EQ(sequences_of(d->state.memories[0], false).size(), 256U);
  });
  EXPECT_LT(growth, most_growth);
}

TEST_F(Growth, Check) {
  EXPECT_LT(of([](const DumpPtr& d) { static_cast<void>(check(*d)); }), most_growth);
}

TEST_F(Growth, TokensOfASequence) {
  EXPECT_LT(of([](const DumpPtr& d) { static_cast<void>(known_tokens(*d, 7)); }), most_growth);
}

TEST_F(Growth, Defrag) {
  EXPECT_LT(of([](const DumpPtr& d) { static_cast<void>(written(defrag(d))); }), most_growth);
}

// What each sequence has in common with the others: four times as many, of the same length.
TEST_F(Growth, Share) {
  const auto share = [](const DumpPtr& d) {
    Plan plan = Plan::of(d);
    share_equal_cells(plan);
  };
  EXPECT_LT(of(share, made(few, 64), made(few * factor, 256)), most_growth);
}

TEST_F(Growth, ShareOfSequencesThatAreAlike) {
  const auto share = [](const DumpPtr& d) {
    Plan plan = Plan::of(d);
    const std::uint64_t cells = d->state.memories[0].streams[0].cells.size();
    EXPECT_GT(share_equal_cells(plan), cells * 8 / 10);  // a tenth is unused
  };
  EXPECT_LT(of(share, made_alike(few, 64), made_alike(few * factor, 256)), most_growth);
}

TEST_F(Growth, ShareOfSequencesThatAreNearlyAlike) {
  const auto share = [](const DumpPtr& d) {
    Plan plan = Plan::of(d);
    share_equal_cells(plan, 0.01);
  };
  EXPECT_LT(of(share, made_alike(few, 64), made_alike(few * factor, 256)), most_growth);
}

TEST_F(Growth, RemovalFromEverySequence) {
  const double growth = of([](const DumpPtr& d) {
    SequenceEdit edit = SequenceEdit::of(d);
    PositionChange change;
    change.removed = {{10, 20}};
    change_positions(edit, change);
    static_cast<void>(written(edit.plan));
  });
  EXPECT_LT(growth, most_growth);
}

TEST_F(Growth, OneSequenceKept) {
  const double growth = of([](const DumpPtr& d) {
    SequenceEdit edit = SequenceEdit::of(d);
    keep_sequence(edit, 7);
    static_cast<void>(written(edit.plan));
  });
  EXPECT_LT(growth, most_growth);
}

TEST_F(Growth, Compare) {
  const double growth = of([](const DumpPtr& d) {
    static_cast<void>(compare(*d, *written(defrag(d))));  // no cell is where it was
  });
  EXPECT_LT(growth, most_growth);
}

// Slot files of 780 cells each.
DumpList made_slots(std::size_t files) {
  Shape shape = shape_of(780, 1);
  shape.container = Container::slot;
  shape.version = 4;
  shape.order = CellOrder::tidy;
  shape.shared = shape.unused = 0;
  DumpList dumps;
  for (std::size_t i = 0; i < files; ++i) {
    shape.seed = static_cast<std::uint32_t>(i);
    dumps.push_back(made_dump(shape));
  }
  return dumps;
}

double growth_with_files(const std::function<void(const DumpList&)>& work) {
  static const DumpList small = made_slots(64);
  static const DumpList large = made_slots(256);
  const double before = seconds_of([&] { work(small); });
  return seconds_of([&] { work(large); }) / std::max(before, 0.001);
}

TEST(GrowthWithFiles, Merge) {
  MergeOptions options;
  options.renumber = true;
  options.arch = "llama";
  EXPECT_LT(growth_with_files([&](const DumpList& dumps) {
              const SequenceEdit merged = merge_dumps(dumps, options);
              EXPECT_EQ(cells_of(merged.plan.target.state.memories[0]), 780 * dumps.size());
            }),
            most_growth);
}

TEST(GrowthWithFiles, Append) {
  EXPECT_LT(growth_with_files([](const DumpList& dumps) {
              const SequenceEdit appended = append_dumps(dumps, {});
              EXPECT_EQ(cells_of(appended.plan.target.state.memories[0]), 780 * dumps.size());
            }),
            most_growth);
}

// What all of these must notice.
TEST_F(Growth, QuadraticWorkIsNoticed) {
  const double growth = of([](const DumpPtr& d) {
    volatile std::uint64_t sum = 0;
    const std::uint64_t cells = d->state.memories[0].streams[0].cells.size() / 10;
    for (std::uint64_t a = 0; a < cells; ++a)
      for (std::uint64_t b = 0; b < cells; ++b) sum = sum + b;
  });
  EXPECT_GT(growth, most_growth);
}

}  // namespace
}  // namespace kvtool::test
