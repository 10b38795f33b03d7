// The sums behind the figures of `diff`, against the plain loop that says what they are.
#include "compare/value_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kvtool/codec.h"
#include "support/bytes.h"

namespace kvtool {
namespace {

using test::ByteVector;
using Row = std::vector<float>;

Sums plainly(const Row& a, const Row& b, const Tolerance& tolerance) {
  Sums sums;
  sums.values = a.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]);
    const double y = static_cast<double>(b[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++((std::isnan(x) && std::isnan(y)) || x == y ? sums.not_finite_in_both : sums.not_finite);
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
  EXPECT_EQ(fast.not_finite_in_both, plain.not_finite_in_both);
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
      EXPECT_EQ(compare_values(a, b, {}).not_finite_in_both, 1U);
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

// --- from stored rows

constexpr ElementType coarse_types[] = {ElementType::f16, ElementType::bf16};

ByteVector stored(ElementType type, const Row& row) {
  ByteVector bytes(row_bytes(type, row.size()));
  quantize(type, row, bytes);
  return bytes;
}

Row numbers_of(ElementType type, const ByteVector& bytes) {
  Row row(bytes.size() / info(type).block_bytes * info(type).block_elements);
  dequantize(type, bytes, row);
  return row;
}

std::optional<Sums> quickly(ElementType type, const Row& a, const Row& b,
                            const Tolerance& tolerance = {}) {
  return compare_stored(type, stored(type, a), stored(type, b), tolerance);
}

// What is given agrees with the plain loop; counts are exact.
void expect_quick(ElementType type, const Row& a, const Row& b, const Tolerance& tolerance = {}) {
  const auto quick = quickly(type, a, b, tolerance);
  ASSERT_TRUE(quick);
  const Sums plain = plainly(numbers_of(type, stored(type, a)), numbers_of(type, stored(type, b)),
                             tolerance);
  EXPECT_EQ(quick->values, plain.values);
  EXPECT_EQ(quick->over, plain.over);
  EXPECT_EQ(quick->not_finite, 0U);
  EXPECT_NEAR(quick->max_abs, plain.max_abs, 1e-7 * plain.max_abs);
  EXPECT_NEAR(quick->difference2, plain.difference2, 2e-6 * plain.difference2);
  EXPECT_NEAR(quick->a2, plain.a2, 2e-6 * plain.a2);
  EXPECT_NEAR(quick->b2, plain.b2, 2e-6 * plain.b2);
}

TEST(StoredSums, EveryLength) {
  Rows rows;
  for (const ElementType type : coarse_types)
    for (std::size_t size = 1; size <= 600; size += size < 70 ? 1 : 53)
      for (const double tolerance : {0.0, 0.5})
        expect_quick(type, rows.row(size), rows.row(size), {tolerance, 0});
}

TEST(StoredSums, WholeBlocks) {
  Rows rows;
  for (std::size_t size = 32; size <= 640; size += 32)
    for (const double tolerance : {0.0, 0.5})
      expect_quick(ElementType::q8_0, rows.row(size), rows.row(size), {tolerance, 0});
}

TEST(StoredSums, RoundingsCancelOut) {
  Rows rows;
  Sums quick;
  Sums plain;
  for (int i = 0; i < 2000; ++i) {
    const Row a = rows.row(256);
    const Row b = rows.row(256);
    quick.add(*quickly(ElementType::f16, a, b));
    plain.add(plainly(numbers_of(ElementType::f16, stored(ElementType::f16, a)),
                      numbers_of(ElementType::f16, stored(ElementType::f16, b)), {}));
  }
  EXPECT_NEAR(quick.difference2, plain.difference2, 1e-7 * plain.difference2);
  EXPECT_NEAR(quick.a2, plain.a2, 1e-7 * plain.a2);
}

TEST(StoredSums, EqualRowsDifferByNothingAndTheSmallestDifferenceShows) {
  Rows rows;
  for (const ElementType type : coarse_types) {
    const Row row = rows.row(131);
    EXPECT_EQ(quickly(type, row, row)->difference2, 0);
    EXPECT_FALSE(quickly(type, row, row)->over);
    ByteVector other = stored(type, row);
    other[20] ^= std::byte{1};
    const auto sums = compare_stored(type, stored(type, row), other, {});
    EXPECT_GT(sums->difference2, 0);
    EXPECT_TRUE(sums->over);
  }
}

// Where floats cannot tell, nothing is said, so that compare_values() is asked.
TEST(StoredSums, NothingIsSaidThatFloatsCannotTell) {
  Rows rows;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const ElementType type : coarse_types)
    for (const float odd : {std::nanf(""), infinity, -infinity})
      for (std::size_t place = 0; place < 37; ++place) {
        Row a = rows.row(37);
        const Row b = rows.row(37);
        a[place] = odd;
        EXPECT_FALSE(quickly(type, a, b));
        EXPECT_FALSE(quickly(type, b, a));
        EXPECT_FALSE(quickly(type, a, a));
      }
  EXPECT_FALSE(quickly(ElementType::bf16, rows.row(40, 1e30), rows.row(40)));   // too large
  EXPECT_FALSE(quickly(ElementType::bf16, rows.row(40, 1e-30), rows.row(40)));  // too small
  Row near = Row(40, 1.0F);
  EXPECT_FALSE(quickly(ElementType::f16, Row(40, 0.0F), near));
  EXPECT_FALSE(quickly(ElementType::f16, near, Row(40, 1.5F), {0, 0.5}));
  EXPECT_FALSE(quickly(ElementType::f16, near, Row(40, 1.5F), {0.5, 0}));  // at the limit
  EXPECT_FALSE(quickly(ElementType::q4_0, Row(32, 1.0F), Row(32, 1.0F)));
  const Row tiny(40, 1e-30F);
  Row with_one = tiny;
  with_one[0] = 1;
  Row other = with_one;
  other[1] = 2e-30F;
  EXPECT_FALSE(quickly(ElementType::bf16, with_one, other));  // a difference whose square is none
}

}  // namespace
}  // namespace kvtool
