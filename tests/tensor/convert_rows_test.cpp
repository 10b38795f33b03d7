// Rows from one form into another, and the figures of what that costs.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kvtool/error.h"
#include "kvtool/tensor.h"
#include "tensor/dump_tensors.h"

namespace kvtool::test {
namespace {

using Floats = std::vector<float>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(ErrorFigures, ByHand) {
  ErrorFigures figures;
  figures.add(Floats{3, 0, 4, 0}, Floats{3, 2, 4, -1.5F});
  EXPECT_EQ(figures.count(), 4U);
  EXPECT_EQ(figures.max_abs(), 2);
  EXPECT_EQ(figures.rms(), 1.25);          // sqrt((4 + 2.25) / 4)
  EXPECT_EQ(figures.relative_l2(), 0.5);   // 2.5 / 5
}

TEST(ErrorFigures, AddUp) {
  ErrorFigures whole;
  whole.add(Floats{1, 2, 3}, Floats{1, 2.5F, 2});
  ErrorFigures parts;
  ErrorFigures second;
  parts.add(Floats{1}, Floats{1});
  second.add(Floats{2, 3}, Floats{2.5F, 2});
  parts.add(second);
  EXPECT_EQ(parts.count(), whole.count());
  EXPECT_EQ(parts.max_abs(), whole.max_abs());
  EXPECT_EQ(parts.rms(), whole.rms());
  EXPECT_EQ(parts.relative_l2(), whole.relative_l2());
}

TEST(ErrorFigures, WhatIsNotFiniteIsCountedApart) {
  ErrorFigures figures;
  figures.add(Floats{nan, infinity, nan, infinity, 1, 70000, 5},
              Floats{nan, infinity, 0, -infinity, nan, infinity, 5});
  EXPECT_EQ(figures.count(), 7U);
  EXPECT_EQ(figures.not_finite(), 4U);
  EXPECT_EQ(figures.max_abs(), 0);
}

TEST(ErrorFigures, OfNothing) {
  ErrorFigures figures;
  EXPECT_EQ(figures.rms(), 0);
  EXPECT_EQ(figures.relative_l2(), 0);
  figures.add(Floats{0}, Floats{1});
  EXPECT_EQ(figures.relative_l2(), infinity);
  EXPECT_THROW(figures.add(Floats{0}, Floats{1, 2}), std::logic_error);
}

Floats waves(std::size_t count) {
  Floats numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = std::sin(0.7F * static_cast<float>(i)) + static_cast<float>(i % 13) * 0.1F;
  return numbers;
}

ByteVector converted(RowForm from, RowForm to, std::size_t width, const ByteVector& in,
                     ErrorFigures* figures = nullptr) {
  RowConverter converter(from, to, width);
  ByteVector out(in.size() / converter.in_row_bytes() * converter.out_row_bytes());
  converter.convert(in, out, figures);
  return out;
}

// Many batches, and a width that does not divide a batch.
TEST(RowConverter, WithoutRotationIsTheQuantizer) {
  constexpr std::size_t width = 96;
  const Floats numbers = waves(width * 100);
  const ByteVector f32 = encoded(ElementType::f32, numbers);
  ErrorFigures figures;
  const RowForm to{ElementType::q4_0, 0};
  const ByteVector q4_0 = converted({ElementType::f32, 0}, to, width, f32, &figures);
  EXPECT_EQ(q4_0, encoded(ElementType::q4_0, numbers));
  EXPECT_EQ(q4_0, converted({ElementType::f32, 0}, to, width, f32));  // the way without figures
  ErrorFigures expected;
  expected.add(numbers, decoded(ElementType::q4_0, q4_0));
  EXPECT_EQ(figures.count(), numbers.size());
  EXPECT_NEAR(figures.rms(), expected.rms(), 1e-12);
  EXPECT_EQ(figures.max_abs(), expected.max_abs());
  EXPECT_GT(figures.rms(), 0);
}

TEST(RowConverter, TurnsOnceTowardsTheTarget) {
  constexpr std::size_t width = 128;
  Floats numbers = waves(width * 40);
  const ByteVector f32 = encoded(ElementType::f32, numbers);
  const ByteVector q8_0 = converted({ElementType::f32, 0}, {ElementType::q8_0, 64}, width, f32);
  rotate(numbers, 64);
  EXPECT_EQ(q8_0, encoded(ElementType::q8_0, numbers));
  EXPECT_NE(q8_0, converted({ElementType::f32, 0}, {ElementType::q8_0, 128}, width, f32));
}

TEST(RowConverter, TurnsBack) {
  constexpr std::size_t width = 128;
  const Floats numbers = waves(width * 40);
  const ByteVector f32 = encoded(ElementType::f32, numbers);
  const RowForm rotated{ElementType::q8_0, 128};
  const ByteVector q8_0 = converted({ElementType::f32, 0}, rotated, width, f32);
  ErrorFigures right;
  right.add(numbers, decoded(ElementType::f16, converted(rotated, {ElementType::f16, 0}, width, q8_0)));
  EXPECT_LT(right.relative_l2(), 0.01);
  ErrorFigures wrong;  // taken for plain rows
  wrong.add(numbers, decoded(ElementType::f16, converted({ElementType::q8_0, 0}, {ElementType::f16, 0},
                                                         width, q8_0)));
  EXPECT_GT(wrong.relative_l2(), 0.5);
}

// The same rotation on both sides is left as it is: no turning back and forth.
TEST(RowConverter, KeepsARotation) {
  const ByteVector q8_0 = encoded(ElementType::q8_0, waves(6400));
  const RowForm from{ElementType::q8_0, 64};
  EXPECT_EQ(converted(from, {ElementType::q4_0, 64}, 64, q8_0),
            encoded(ElementType::q4_0, decoded(ElementType::q8_0, q8_0)));
  EXPECT_EQ(converted(from, from, 64, q8_0), q8_0);
  EXPECT_TRUE(RowConverter(from, from, 64).is_copy());
  EXPECT_FALSE(RowConverter(from, {ElementType::q8_0, 0}, 64).is_copy());
}

// Halves that a float holds exactly come back as they were, NaN with its payload included.
TEST(RowConverter, F16ToF32AndBack) {
  Bytes halves;
  for (unsigned bits = 0; bits < 0x10000; ++bits) halves.u16(bits);
  const RowForm f16{ElementType::f16, 0};
  const RowForm f32{ElementType::f32, 0};
  ErrorFigures figures;
  const ByteVector floats = converted(f16, f32, 64, halves.get(), &figures);
  const ByteVector back = converted(f32, f16, 64, floats);
  EXPECT_EQ(figures.max_abs(), 0);
  EXPECT_EQ(figures.not_finite(), 0U);
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const bool nan_that_is_not_quiet = (bits & 0x7c00U) == 0x7c00U && (bits & 0x3ffU) != 0;
    const unsigned expected = nan_that_is_not_quiet ? bits | 0x200U : bits;
    ASSERT_EQ(peek<std::uint16_t>(back, std::size_t{2} * bits), expected);
  }
}

TEST(RowConverter, WhatHasNoPlaceIsRefused) {
  const RowForm f16{ElementType::f16, 0};
  EXPECT_THROW(RowConverter(f16, {ElementType::q8_0, 0}, 48), Error);
  EXPECT_THROW(RowConverter(f16, {ElementType::q8_0, 64}, 96), Error);
  EXPECT_THROW(RowConverter(f16, {ElementType::q8_0, 96}, 96), Error);
  EXPECT_THROW(RowConverter(f16, {find_element_type("q6_K")->type, 0}, 256), Error);
  RowConverter converter(f16, {ElementType::q8_0, 0}, 64);
  ByteVector out(68);
  EXPECT_THROW(converter.convert(Bytes().filler(127).get(), out), std::logic_error);
  EXPECT_THROW(converter.convert(Bytes().filler(256).get(), out), std::logic_error);
}

}  // namespace
}  // namespace kvtool::test
