// The rope: fast and plain turn alike, angles are those of the formulas, moves compose.
#include "kvtool/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "kvtool/error.h"

namespace kvtool {
namespace {

RopeParameters plain(std::uint32_t head) {
  RopeParameters p;
  p.head = p.dimensions = head;
  return p;
}

std::vector<float> random_row(std::size_t n) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> row(n);
  for (float& x : row) x = normal(random);
  return row;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(double{a[i]} - b[i]));
  return worst;
}

TEST(Rope, OnePairByHand) {
  RopeParameters p = plain(2);
  std::vector<float> row = {1, 0};
  turn(make_rope(p), 3, row);
  EXPECT_NEAR(row[0], std::cos(3.0), 1e-6);
  EXPECT_NEAR(row[1], std::sin(3.0), 1e-6);
}

TEST(Rope, PairsAreNeighboursOrHalves) {
  RopeParameters p = plain(4);
  std::vector<float> norm = {1, 0, 0, 0};
  turn(make_rope(p), 1, norm);
  EXPECT_NE(norm[1], 0);
  EXPECT_EQ(norm[2], 0);
  p.pairs = RopePairs::halves;
  std::vector<float> neox = {1, 0, 0, 0};
  turn(make_rope(p), 1, neox);
  EXPECT_EQ(neox[1], 0);
  EXPECT_NE(neox[2], 0);
}

TEST(Rope, FastAndPlainAlike) {
  for (const RopePairs pairs : {RopePairs::neighbours, RopePairs::halves})
    for (const std::uint32_t offset : {0U, 8U, 16U}) {
      RopeParameters p = plain(64);
      p.pairs = pairs;
      p.offset = offset;
      p.dimensions = 48;
      const Rope rope = make_rope(p);
      std::vector<float> a = random_row(64 * 5);
      std::vector<float> b = a;
      turn(rope, -1234, a);
      RopeTurn(rope, -1234).apply(b);
      EXPECT_EQ(a, b);
    }
}

TEST(Rope, OnlyItsPartOfTheHeadTurns) {
  RopeParameters p = plain(96);
  p.offset = 64;
  p.dimensions = 32;
  const std::vector<float> before = random_row(96 * 2);
  std::vector<float> after = before;
  turn(make_rope(p), 5, after);
  for (std::size_t i = 0; i < after.size(); ++i)
    EXPECT_EQ(after[i] == before[i], i % 96 < 64) << i;
}

TEST(Rope, ThereAndBack) {
  const Rope rope = make_rope(plain(128));
  const std::vector<float> before = random_row(128);
  std::vector<float> row = before;
  turn(rope, 100, row);
  EXPECT_GT(distance(row, before), 0.5);
  turn(rope, -100, row);
  EXPECT_LT(distance(row, before), 1e-5);
}

TEST(Rope, TurningTwiceIsTurningByTheSum) {
  const Rope rope = make_rope(plain(64));
  std::vector<float> twice = random_row(64);
  std::vector<float> once = twice;
  turn(rope, 30, twice);
  turn(rope, 12, twice);
  turn(rope, 42, once);
  EXPECT_LT(distance(twice, once), 1e-5);
}

TEST(Rope, LinearScaleDividesPositions) {
  RopeParameters p = plain(64);
  p.scaling = RopeScaling::linear;
  p.scale = 0.25;
  const Rope slow = make_rope(p);
  const Rope fast = make_rope(plain(64));
  for (std::size_t i = 0; i < slow.angles.size(); ++i)
    EXPECT_DOUBLE_EQ(slow.angles[i] * 4, fast.angles[i]);
}

// The figures of the YaRN paper's ramp, computed here in another way: by the number of turns that a
// pair makes in the original context.
TEST(Rope, YarnLeavesFastPairsAndSlowsSlowOnes) {
  RopeParameters p = plain(128);
  p.scaling = RopeScaling::yarn;
  p.scale = 0.25;
  p.original_context = 4096;
  const Rope yarn = make_rope(p);
  const Rope trained = make_rope(plain(128));
  std::size_t kept = 0;
  std::size_t slowed = 0;
  for (std::size_t i = 0; i < yarn.angles.size(); ++i) {
    const double turns = 4096 * trained.angles[i] / (2 * std::numbers::pi);
    const double ratio = yarn.angles[i] / trained.angles[i];
    EXPECT_GE(ratio, 0.25 - 1e-12);
    EXPECT_LE(ratio, 1 + 1e-12);
    if (turns > 40) {
      EXPECT_DOUBLE_EQ(ratio, 1) << i;
    }
    if (turns < 0.8) {
      EXPECT_DOUBLE_EQ(ratio, 0.25) << i;
    }
    kept += ratio > 0.999 ? 1U : 0U;
    slowed += ratio < 0.251 ? 1U : 0U;
  }
  EXPECT_GT(kept, 10U);
  EXPECT_GT(slowed, 10U);
}

TEST(Rope, FactorsDivideTheAngles) {
  RopeParameters p = plain(8);
  p.factors = {1, 2, 4, 8};
  const Rope rope = make_rope(p);
  const Rope without = make_rope(plain(8));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_DOUBLE_EQ(rope.angles[i] * p.factors[i], without.angles[i]);
}

TEST(Rope, TheFourthSectionStandsStill) {
  RopeParameters p = plain(32);
  p.pairs = RopePairs::halves;
  p.sections = {4, 4, 4, 4};
  const Rope rope = make_rope(p);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(rope.angles[i] == 0, i >= 12) << i;
  p.sections = {6, 5, 5, 0};
  for (const double angle : make_rope(p).angles) EXPECT_NE(angle, 0);
  p.interleaved = true;
  for (const double angle : make_rope(p).angles) EXPECT_NE(angle, 0);
  p.sections = {4, 4, 4, 4};  // pairs 0 to 11 take turns, 12 and on are of the fourth
  const Rope turns = make_rope(p);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(turns.angles[i] == 0, i >= 12) << i;
}

TEST(Rope, RefusesWhatMakesNoSense) {
  const auto refused = [](auto change) {
    RopeParameters p = plain(64);
    change(p);
    EXPECT_THROW(static_cast<void>(make_rope(p)), Error);
  };
  refused([](RopeParameters& p) { p.dimensions = 63; });
  refused([](RopeParameters& p) { p.dimensions = 0; });
  refused([](RopeParameters& p) { p.dimensions = 66; });
  refused([](RopeParameters& p) { p.offset = 2; });
  refused([](RopeParameters& p) { p.offset = 4294967295U; });
  refused([](RopeParameters& p) { p.base = 0; });
  refused([](RopeParameters& p) { p.base = std::nan(""); });
  refused([](RopeParameters& p) { p.scale = -1; });
  refused([](RopeParameters& p) { p.factors = {1, 2}; });
  refused([](RopeParameters& p) { p.factors.assign(32, 0.0F); });
  refused([](RopeParameters& p) { p.scaling = RopeScaling::yarn; });
}

}  // namespace
}  // namespace kvtool
