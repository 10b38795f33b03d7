// Fast code against the reference: every bit must agree, on every 16-bit pattern and on blocks of
// all kinds, hostile ones included.
#include "tensor/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "kvtool/codec.h"
#include "kvtool/tensor.h"
#include "support/bytes.h"
#include "tensor/error_sums.h"
#include "tensor/hadamard.h"
#include "tensor/pair_sums.h"
#include "tensor/quick_sums.h"
#include "tensor/reference.h"

namespace kvtool {
namespace {

using test::ByteVector;

constexpr ElementType types[] = {ElementType::f32,  ElementType::f16,  ElementType::bf16,
                                 ElementType::q8_0, ElementType::q4_0, ElementType::q4_1,
                                 ElementType::q5_0, ElementType::q5_1, ElementType::iq4_nl};

using Random = std::mt19937;

float any_bits(Random& random) { return std::bit_cast<float>(static_cast<std::uint32_t>(random())); }

// Numbers of a magnitude that is the same for a whole block, so that scales of all sizes occur.
float of_magnitude(Random& random, int exponent) {
  std::normal_distribution<float> normal;
  return std::ldexp(normal(random), exponent);
}

// Halves of whole numbers: ties everywhere.
float tie(Random& random) { return static_cast<float>(static_cast<int>(random() % 511) - 255) / 2; }

constexpr float special[] = {0.0F, -0.0F, 1e-45F, -1e-45F, 1e-38F, 6e-8F, 65504, 65520, -65536,
                             3e38F, -3e38F, 8.5F, -127, 127, 1,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};

float one_of_special(Random& random) { return special[random() % std::size(special)]; }

std::vector<float> block_of_kind(Random& random, unsigned kind) {
  std::vector<float> floats(32);
  const int exponent = static_cast<int>(random() % 280) - 150;
  for (float& x : floats) {
    switch (kind) {
      case 0: x = of_magnitude(random, 0); break;
      case 1: x = of_magnitude(random, exponent); break;
      case 2: x = tie(random); break;
      case 3: x = one_of_special(random); break;
      case 4: x = random() % 4 == 0 ? one_of_special(random) : of_magnitude(random, 0); break;
      default: x = any_bits(random); break;
    }
  }
  return floats;
}

std::vector<float> blocks(std::size_t count) {
  Random random(20261129);
  std::vector<float> floats;
  for (std::size_t i = 0; i < count; ++i) {
    const auto more = block_of_kind(random, static_cast<unsigned>(i % 6));
    floats.insert(floats.end(), more.begin(), more.end());
  }
  return floats;
}

ByteVector random_bytes(std::size_t count) {
  Random random(7);
  ByteVector bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// Every bit counts, those of a NaN too.
bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

ByteVector encoded_plainly(ElementType type, const std::vector<float>& floats) {
  ByteVector bytes(row_bytes(type, floats.size()));
  reference::encode(type, floats, bytes);
  return bytes;
}

std::vector<float> decoded_plainly(ElementType type, const ByteVector& bytes) {
  std::vector<float> floats(bytes.size() / info(type).block_bytes * info(type).block_elements);
  reference::decode(type, bytes, floats);
  return floats;
}

TEST(Kernels, EncodeLikeTheReference) {
  std::cout << "kernels: " << kernel_set() << "\n";
  const auto floats = blocks(60000);
  for (const ElementType type : types) {
    ByteVector bytes(row_bytes(type, floats.size()));
    quantize(type, floats, bytes);
    EXPECT_EQ(bytes, encoded_plainly(type, floats)) << info(type).name;
  }
}

TEST(Kernels, DecodeLikeTheReference) {
  for (const ElementType type : types) {
    const ByteVector bytes = random_bytes(std::size_t{20000} * info(type).block_bytes);
    std::vector<float> floats(std::size_t{20000} * info(type).block_elements);
    dequantize(type, bytes, floats);
    EXPECT_TRUE(same_bits(floats, decoded_plainly(type, bytes))) << info(type).name;
  }
}

TEST(Kernels, RecodeLikeTheReference) {
  for (const ElementType from : types)
    for (const ElementType to : types) {
      if (from == to) continue;
      const ByteVector in = random_bytes(row_bytes(from, std::size_t{32} * 1500));
      ByteVector out(row_bytes(to, std::size_t{32} * 1500));
      recode(from, in, to, out);
      EXPECT_EQ(out, encoded_plainly(to, decoded_plainly(from, in)))
          << info(from).name << " to " << info(to).name;
    }
}

ByteVector every_16_bits() {
  test::Bytes bytes;
  for (unsigned bits = 0; bits < 0x10000; ++bits) bytes.u16(bits);
  return bytes.get();
}

// All of them there, and the finite ones and infinities back.
TEST(Kernels, Every16BitPattern) {
  const ByteVector patterns = every_16_bits();
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    std::vector<float> floats(0x10000);
    dequantize(type, patterns, floats);
    EXPECT_TRUE(same_bits(floats, decoded_plainly(type, patterns)));
    ByteVector back(patterns.size());
    quantize(type, floats, back);
    EXPECT_EQ(back, encoded_plainly(type, floats));
    for (unsigned bits = 0; bits < 0x10000; ++bits)
      if (!std::isnan(floats[bits])) {
        ASSERT_EQ(test::peek<std::uint16_t>(back, std::size_t{2} * bits), bits);
      }
  }
}

// Floats between, at and beside the middle of every two neighbouring halves.
TEST(Kernels, HalvesRoundToNearestEven) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const float low = float_of_half(static_cast<std::uint16_t>(bits));
    const float high = float_of_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact
    ASSERT_EQ(half_of_float(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(half_of_float(middle), bits + (bits & 1U));
    ASSERT_EQ(half_of_float(std::nextafter(middle, 1e6F)), bits + 1);
    ASSERT_EQ(half_of_float(-middle), (bits + (bits & 1U)) | 0x8000U);
  }
  EXPECT_EQ(half_of_float(65519.996F), 0x7bff);
  EXPECT_EQ(half_of_float(65520.0F), 0x7c00);  // the middle between the largest and what would be next
}

// The fast transform adds and subtracts in the order of the plain one.
TEST(Kernels, RotateLikeTheReference) {
  Random random(4);
  for (std::uint32_t block = 1; block <= 1024; block *= 2)
    for (const int exponent : {0, -130, 100}) {
      std::vector<float> fast(2048);
      for (float& x : fast) x = random() % 8 == 0 ? 0.0F : of_magnitude(random, exponent);
      std::vector<float> plain = fast;
      rotate(fast, block);
      reference::rotate(plain, block);
      EXPECT_TRUE(same_bits(fast, plain)) << block;
    }
}

// Eight sums, in the same order: no bit differs.
TEST(Kernels, SumErrorsLikeTheReference) {
  const auto fast = kernels::error_sums();
  if (fast == nullptr) GTEST_SKIP() << "no fast code for this processor";
  Random random(6);
  for (const std::size_t n : {0U, 1U, 8U, 100U, 1024U}) {
    std::vector<float> a(n);
    std::vector<float> b(n);
    for (float& x : a) x = of_magnitude(random, 3);
    for (std::size_t i = 0; i < n; ++i) b[i] = a[i] + of_magnitude(random, -5);
    const ErrorSums x = fast(a, b);
    const ErrorSums y = reference::error_sums(a, b);
    EXPECT_EQ(x.max_abs, y.max_abs);
    EXPECT_EQ(x.difference, y.difference);
    EXPECT_EQ(x.original, y.original);
  }
}

// Equal bits, or NaN for NaN: of which operand a NaN keeps the payload is the compiler's choice.
void expect_same(double x, double y) {
  if (std::isnan(x) && std::isnan(y)) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(x), std::bit_cast<std::uint64_t>(y)) << x << " " << y;
}

void expect_same(const PairSums& x, const PairSums& y) {
  expect_same(x.difference2, y.difference2);
  expect_same(x.a2, y.a2);
  expect_same(x.b2, y.b2);
  expect_same(x.max_abs, y.max_abs);
  const bool finite = std::isfinite(x.a2 + x.b2);
  EXPECT_TRUE(x.over == y.over || !finite);
}

// Every length of the rest behind the last full register, unaligned, with all kinds of numbers.
TEST(Kernels, SumPairsLikeTheReference) {
  const auto fast = kernels::pair_sums();
  if (fast == reference::pair_sums) GTEST_SKIP() << "no fast code for this processor";
  Random random(8);
  for (std::size_t n = 0; n <= 70; ++n)
    for (unsigned kind = 0; kind < 6; ++kind)
      for (const Tolerance& tolerance : {Tolerance{0, 0}, {0.5, 0}, {0, 0.5}, {1e-3, 1e-2}}) {
        std::vector<float> a;
        std::vector<float> b;
        while (a.size() <= n) {
          for (const float x : block_of_kind(random, kind)) a.push_back(x);
          for (const float x : block_of_kind(random, kind)) b.push_back(x);
        }
        for (std::size_t i = 0; i < a.size(); i += 3) b[i] = a[i];
        const auto x = std::span(a).subspan(1, n);
        const auto y = std::span(b).subspan(1, n);
        expect_same(fast(x, y, tolerance), reference::pair_sums(x, y, tolerance));
      }
}

// Over the end of a piece, with rests of every length, unaligned.
TEST(Kernels, QuickSumsLikeTheReference) {
  using Reference = PairSums (*)(std::span<const std::byte>, std::span<const std::byte>);
  const std::pair<ElementType, Reference> cases[] = {
      {ElementType::f16, reference::quick_sums_f16},
      {ElementType::bf16, reference::quick_sums_bf16},
      {ElementType::q8_0, reference::quick_sums_q8_0},
      {ElementType::f32, reference::quick_sums_f32}};
  if (!kernels::has_avx2()) GTEST_SKIP() << "no fast code for this processor";
  Random random(9);
  for (const auto& [type, plain] : cases)
    for (const std::size_t n : {0U, 1U, 7U, 8U, 15U, 16U, 17U, 32U, 33U, 96U, 255U, 256U, 257U, 288U, 300U, 1024U})
      for (unsigned kind = 0; kind < 6; ++kind) {
        if (type == ElementType::q8_0 && n % 32 != 0) continue;
        const std::size_t whole = (n + 32) / 32 * 32;
        std::vector<float> numbers;
        while (numbers.size() < 2 * whole)
          for (const float x : block_of_kind(random, kind)) numbers.push_back(x);
        ByteVector bytes(row_bytes(type, 2 * whole));
        quantize(type, numbers, bytes);
        const std::size_t size = row_bytes(type, n);
        const auto a = std::span<const std::byte>(bytes).subspan(info(type).block_bytes, size);
        const auto b = std::span<const std::byte>(bytes).subspan(bytes.size() / 2, size);
        expect_same(kernels::quick_sums_of(type)(a, b), plain(a, b));
      }
}

// Sizes that leave a rest behind the last full register, at addresses that are not aligned.
TEST(Kernels, OddSizesAndAddresses) {
  const auto floats = blocks(2);
  for (std::size_t n = 0; n <= 40; ++n)
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
      const std::vector<float> some(floats.begin() + 1, floats.begin() + 1 + static_cast<std::ptrdiff_t>(n));
      ByteVector bytes(2 * n + 2, std::byte{0x5a});
      quantize(type, std::span(floats).subspan(1, n), std::span(bytes).subspan(1, 2 * n));
      const ByteVector expected = encoded_plainly(type, some);
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), bytes.begin() + 1));
      EXPECT_EQ(bytes.front(), std::byte{0x5a});
      EXPECT_EQ(bytes.back(), std::byte{0x5a});
      std::vector<float> back(n);
      dequantize(type, std::span(bytes).subspan(1, 2 * n), back);
      EXPECT_TRUE(same_bits(back, decoded_plainly(type, expected)));
    }
}

}  // namespace
}  // namespace kvtool
