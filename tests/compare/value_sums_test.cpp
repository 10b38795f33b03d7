// The sums behind the figures of `diff`, against the plain loop that says what they are.
#include "compare/value_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kvtool {
namespace {

using Row = std::vector<float>;

Sums plainly(const Row& a, const Row& b, const Tolerance& tolerance) {
  Sums sums;
  sums.values = a.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]);
    const double y = static_cast<double>(b[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      sums.not_finite += (std::isnan(x) && std::isnan(y)) || x == y ? 0U : 1U;
      continue;
    }
    const double d = std::fabs(x - y);
    sums.difference2 += d * d;
    sums.a2 += x * x;
    sums.b2 += y * y;
    sums.max_abs = std::max(sums.max_abs, d);
    sums.over = sums.over || d > tolerance.absolute + tolerance.relative * std::fabs(x);
  }
  return sums;
}

// Counts are exact; sums that were added in another order are not.
void expect_alike(const Row& a, const Row& b, const Tolerance& tolerance = {}) {
  const Sums fast = compare_values(a, b, tolerance);
  const Sums plain = plainly(a, b, tolerance);
  EXPECT_EQ(fast.values, plain.values);
  EXPECT_EQ(fast.over, plain.over);
  EXPECT_EQ(fast.not_finite, plain.not_finite);
  EXPECT_EQ(fast.max_abs, plain.max_abs);
  const double scale = 1e-12 * (plain.a2 + plain.b2);
  EXPECT_NEAR(fast.difference2, plain.difference2, scale);
  EXPECT_NEAR(fast.a2, plain.a2, scale);
  EXPECT_NEAR(fast.b2, plain.b2, scale);
}

class Rows {
 public:
  Row row(std::size_t size, double scale = 1) {
    Row values(size);
    for (float& value : values) value = static_cast<float>(normal_(engine_) * scale);
    return values;
  }

 private:
  std::mt19937_64 engine_{7};
  std::normal_distribution<double> normal_;
};

TEST(ValueSums, EveryLength) {
  Rows rows;
  for (std::size_t size = 0; size <= 70; ++size) expect_alike(rows.row(size), rows.row(size));
}

TEST(ValueSums, Tolerances) {
  Rows rows;
  for (const double absolute : {0.0, 0.5})
    for (const double relative : {0.0, 0.5})
      for (int i = 0; i < 20; ++i)
        expect_alike(rows.row(97), rows.row(97), {absolute, relative});
}

TEST(ValueSums, ADifferenceOfExactlyTheToleranceIsNone) {
  const Row a(11, 2.0F);
  const Row b(11, 2.5F);
  EXPECT_FALSE(compare_values(a, b, {0.5, 0}).over);
  EXPECT_FALSE(compare_values(a, b, {0, 0.25}).over);
  EXPECT_FALSE(compare_values(a, b, {0.25, 0.125}).over);
  EXPECT_TRUE(compare_values(a, b, {0.4375, 0}).over);
  EXPECT_TRUE(compare_values(a, b, {0, 0.125}).over);
}

TEST(ValueSums, EqualRowsDifferByNothing) {
  Rows rows;
  const Row row = rows.row(131);
  const Sums sums = compare_values(row, row, {});
  EXPECT_EQ(sums.difference2, 0);
  EXPECT_FALSE(sums.over);
  EXPECT_EQ(sums.a2, sums.b2);
}

TEST(ValueSums, TheSignOfZeroIsNoDifference) {
  const Sums sums = compare_values(Row(13, 0.0F), Row(13, -0.0F), {});
  EXPECT_FALSE(sums.over);
  EXPECT_EQ(sums.difference2, 0);
}

TEST(ValueSums, LargestAndSmallestNumbers) {
  Rows rows;
  expect_alike(rows.row(64, 1e38), rows.row(64, 1e38));
  expect_alike(rows.row(64, 1e-42), rows.row(64, 1e-42));
  const float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(compare_values(Row(9, smallest), Row(9, 0.0F), {}).over);
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(compare_values(Row(9, largest), Row(9, -largest), {}).max_abs, 2.0 * double{largest});
}

// At every place, on one side, on both, and another kind on each: counted, and left out of the sums.
TEST(ValueSums, WhatIsNotFinite) {
  Rows rows;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {std::nanf(""), infinity, -infinity})
    for (std::size_t place = 0; place < 19; ++place) {
      Row a = rows.row(19);
      Row b = rows.row(19);
      a[place] = odd;
      expect_alike(a, b);
      expect_alike(b, a);
      EXPECT_EQ(compare_values(a, b, {}).not_finite, 1U);
      b[place] = odd;
      expect_alike(a, b);
      EXPECT_EQ(compare_values(a, b, {}).not_finite, 0U);
      b[place] = odd == infinity ? -infinity : infinity;
      expect_alike(a, b);
      EXPECT_EQ(compare_values(a, b, {}).not_finite, 1U);
    }
}

TEST(ValueSums, ADifferenceShowsAtEveryPlace) {
  Rows rows;
  for (std::size_t place = 0; place < 43; ++place) {
    const Row a = rows.row(43);
    Row b = a;
    b[place] += 1;
    EXPECT_TRUE(compare_values(a, b, {}).over);
    EXPECT_NEAR(compare_values(a, b, {}).max_abs, 1, 1e-6);
  }
}

}  // namespace
}  // namespace kvtool
