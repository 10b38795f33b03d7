// The Hadamard rotation of quantized caches: by arithmetic, and on genuine files of the same prompt
// with and without it.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kvtool/error.h"
#include "kvtool/tensor.h"
#include "tensor/dump_tensors.h"

namespace kvtool::test {
namespace {

using Floats = std::vector<float>;

Floats random_rows(std::size_t count) {
  std::mt19937 random(64);
  std::normal_distribution<float> normal;
  Floats numbers(count);
  for (float& x : numbers) x = normal(random);
  return numbers;
}

Floats turned(Floats numbers, std::uint32_t block) {
  rotate(numbers, block);
  return numbers;
}

double distance(const Floats& a, const Floats& b) {
  ErrorFigures figures;
  figures.add(a, b);
  return figures.relative_l2();
}

TEST(Rotation, OfTwoAndFour) {
  EXPECT_LT(distance(turned({1, 3}, 2), {4 / std::sqrt(2.0F), -2 / std::sqrt(2.0F)}), 1e-7);
  // (1 2 3 4) times the rows ++++, +-+-, ++--, +--+, halved
  EXPECT_EQ(turned({1, 2, 3, 4}, 4), (Floats{5, -1, -2, 0}));
  EXPECT_EQ(turned({1, 2, 3, 4}, 1), (Floats{1, 2, 3, 4}));
}

// Element j of a turned unit vector i is +-1/sqrt(n), minus where i and j share an odd number of
// bits: that is the matrix itself.
TEST(Rotation, IsTheHadamardMatrixInNaturalOrder) {
  for (std::uint32_t i = 0; i < 64; ++i) {
    Floats unit(64);
    unit[i] = 1;
    rotate(unit, 64);
    for (std::uint32_t j = 0; j < 64; ++j)
      ASSERT_EQ(unit[j], (__builtin_popcount(i & j) % 2 == 0 ? 0.125F : -0.125F)) << i << " " << j;
  }
}

TEST(Rotation, IsItsOwnInverseAndKeepsLengths) {
  for (const std::uint32_t block : {2U, 64U, 128U, 512U}) {
    const Floats numbers = random_rows(1024);
    const Floats once = turned(numbers, block);
    EXPECT_LT(distance(numbers, turned(once, block)), 1e-6);
    EXPECT_GT(distance(numbers, once), 0.5);
    double length = 0;
    double length_once = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      length += double{numbers[i]} * numbers[i];
      length_once += double{once[i]} * once[i];
    }
    EXPECT_NEAR(length_once / length, 1, 1e-6);
  }
}

TEST(Rotation, BlocksDoNotMix) {
  Floats numbers = random_rows(256);
  const Floats whole = turned(numbers, 64);
  for (std::size_t i = 0; i < 256; i += 64) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const Floats alone(numbers.begin() + at, numbers.begin() + at + 64);
    const Floats part(whole.begin() + at, whole.begin() + at + 64);
    EXPECT_EQ(turned(alone, 64), part);
  }
}

TEST(Rotation, WrongBlocksAreRefused) {
  Floats numbers(96);
  EXPECT_THROW(rotate(numbers, 64), Error);
  EXPECT_THROW(rotate(numbers, 48), Error);
  EXPECT_THROW(rotate(numbers, 0), Error);
}

TEST(Rotation, BlocksOfAHead) {
  EXPECT_EQ(key_rotation_block(32), 0U);
  EXPECT_EQ(key_rotation_block(80), 0U);
  EXPECT_EQ(key_rotation_block(0), 0U);
  EXPECT_EQ(key_rotation_block(64), 64U);
  EXPECT_EQ(key_rotation_block(128), 128U);
  EXPECT_EQ(key_rotation_block(192), 64U);
  EXPECT_EQ(key_rotation_block(256), 256U);
  EXPECT_EQ(value_rotation_block(128), 64U);
  EXPECT_EQ(value_rotation_block(96), 0U);
}

// Two files of one prompt, one stored plain and one rotated. Their first layers have the same
// values, so turning one gives the other but for the noise of q8_0.
struct Files {
  const char* parent;
  const char* plain;
  const char* rotated;
  std::uint32_t key_block;
  std::uint32_t value_block;
};

constexpr Files files[] = {
    {"b11118", "llamah64-fa-f16.seq0.ggsq", "llamah64-fa-q8_0.seq0.ggsq", 64, 64},
    {"b11118", "llamah64-fa-q8_0-norot.seq0.ggsq", "llamah64-fa-q8_0.seq0.ggsq", 64, 64},
    {"trained", "h128-q8_0-plain-256.ggsq", "h128-q8_0-256.ggsq", 128, 64},
    {"trained", "h128-f16-256.ggsq", "h128-q8_0-256.ggsq", 128, 64},
    {"trained", "slot-q8_0-plain-1024.ggsq", "slot-q8_0-2048.ggsq", 64, 64},
    {"trained", "chat-2048.f16.ggsq", "slot-q8_0-2048.ggsq", 64, 64},
};

// The first numbers of `longer`, as many as the other has.
Floats as_long_as(const Floats& other, Floats longer) {
  longer.resize(other.size());
  return longer;
}

void compare(const Floats& plain, const Floats& rotated, std::uint32_t block) {
  constexpr double noise = 0.012;  // one q8_0 rounding costs 0.0053-0.0056, here are up to two
  EXPECT_LT(distance(turned(plain, block), rotated), noise);
  EXPECT_GT(distance(plain, rotated), 0.5);
  EXPECT_GT(distance(turned(plain, block / 2), rotated), 0.5);
  if (plain.size() % (2 * std::size_t{block}) == 0) {
    EXPECT_GT(distance(turned(plain, 2 * block), rotated), 0.5);
  }
}

TEST(Rotation, TurnsPlainFilesIntoRotatedOnes) {
  int compared = 0;
  for (const Files& f : files) {
    const auto plain_path = find_dump(f.parent, f.plain);
    const auto rotated_path = find_dump(f.parent, f.rotated);
    if (!plain_path || !rotated_path) continue;
    SCOPED_TRACE(f.plain);
    const Dump plain = open_dump(plain_path->string());
    const Dump rotated = open_dump(rotated_path->string());
    const Layer& a = layers_of(plain)[0];
    const Layer& b = layers_of(rotated)[0];
    const Floats k = numbers_of(plain, a.k);
    const Floats v = numbers_of(plain, a.v);
    compare(k, as_long_as(k, numbers_of(rotated, b.k)), f.key_block);
    compare(v, as_long_as(v, numbers_of(rotated, b.v)), f.value_block);
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace kvtool::test
