// Taking elements apart and putting them together, and what is done to them before.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "pack/columns.h"
#include "pack/outline.h"
#include "pack/split.h"
#include "pack/words.h"
#include "support/bytes.h"

namespace kvtool::test {
namespace {

using namespace packing;

ByteVector random_bytes(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.u8(random() & 0xffU);
  return bytes.get();
}

// Any order, in groups of any size.
Columns random_columns(std::size_t width, std::mt19937& random) {
  Columns columns;
  columns.order.resize(width);
  std::iota(columns.order.begin(), columns.order.end(), std::uint16_t{0});
  std::shuffle(columns.order.begin(), columns.order.end(), random);
  for (std::size_t end = 0; end < width;) {
    end = std::min(width, end + 1 + random() % width);
    columns.ends.push_back(static_cast<std::uint16_t>(end));
  }
  return columns;
}

std::vector<Part> parts(std::initializer_list<std::uint16_t> widths) {
  std::vector<Part> list;
  for (const std::uint16_t width : widths) list.push_back({width, {}});
  return list;
}

std::size_t block(const std::vector<Part>& list) {
  std::size_t bytes = 0;
  for (const Part& part : list) bytes += part.width;
  return bytes;
}

TEST(Parts, SplitByHand) {
  const ByteVector in = Bytes().u8(1).u8(2).u8(3).u8(4).u8(5).u8(6).get();
  ByteVector out(6);
  split(parts({1, 2}), in, out);
  EXPECT_EQ(out, Bytes().u8(1).u8(4).u8(2).u8(3).u8(5).u8(6).get());
}

// The shapes that have a fast way, and others; block counts around the width of vectors.
TEST(Parts, FastWaysAgreeWithTheReference) {
  for (const auto& list : {parts({1}), parts({1, 1}), parts({1, 1, 1, 1}), parts({1, 1, 32}),
                           parts({1, 1, 16}), parts({1, 1, 4, 16}), parts({1, 1, 1, 1, 4, 16}),
                           parts({2, 1}), parts({34}), parts({1, 1, 7})})
    for (const std::size_t count : {0U, 1U, 2U, 15U, 16U, 17U, 33U, 1000U}) {
      const ByteVector in = random_bytes(count * block(list));
      ByteVector fast(in.size());
      ByteVector slow(in.size());
      split(list, in, fast);
      reference::split(list, in, slow);
      ASSERT_EQ(fast, slow) << list.size() << " parts, " << count;
      ByteVector back(in.size());
      join(list, fast, back);
      ASSERT_EQ(back, in);
      reference::join(list, fast, back);
      ASSERT_EQ(back, in);
    }
}

// Every type's parts are as many bytes as its block, and the name of none is forgotten.
TEST(Parts, FitTheBlocksOfTheTypes) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::q8_0, ElementType::q4_0,
        ElementType::q4_1, ElementType::q5_0, ElementType::q5_1, ElementType::iq4_nl}) {
    EXPECT_EQ(block(parts_of(type)), info(type).block_bytes) << info(type).name;
    EXPECT_GT(parts_of(type).size(), 1U) << info(type).name;
  }
}

TEST(Parts, ColumnsGatherAndScatter) {
  Columns columns;
  columns.order = {3, 0, 2, 1};
  columns.ends = {1, 4};
  const ByteVector rows = Bytes().u8(10).u8(11).u8(12).u8(13).u8(20).u8(21).u8(22).u8(23).get();
  ByteVector grouped(rows.size());
  ColumnScratch scratch;
  gather(columns, rows, grouped, scratch);
  EXPECT_EQ(grouped,
            Bytes().u8(13).u8(23).u8(10).u8(12).u8(11).u8(20).u8(22).u8(21).get());
  ByteVector back(rows.size());
  scatter(columns, grouped, back, scratch);
  EXPECT_EQ(back, rows);
}

// Columns in any order, in groups of any size, and rows that are no multiple of what is done at once.
TEST(Parts, ColumnsMoveAsInTheReference) {
  std::mt19937 random(3);
  for (const std::size_t width : {1U, 7U, 64U, 1000U, 1088U, 9000U})
    for (const std::size_t rows : {1U, 16U, 63U, 64U, 150U}) {
      const Columns columns = random_columns(width, random);
      const ByteVector in = random_bytes(width * rows);
      ByteVector fast(in.size());
      ByteVector plain(in.size());
      ColumnScratch scratch;
      gather(columns, in, fast, scratch);
      reference::gather(columns, in, plain);
      ASSERT_EQ(fast, plain) << width << " columns, " << rows << " rows";
      scatter(columns, in, fast, scratch);
      reference::scatter(columns, in, plain);
      ASSERT_EQ(fast, plain) << width << " columns, " << rows << " rows";
    }
}

TEST(Words, FiltersAreUndone) {
  for (const Filter filter : {Filter::none, Filter::sign_last_16, Filter::sign_last_32}) {
    const ByteVector in = random_bytes(4096);
    ByteVector bytes = in;
    apply_filter(filter, bytes);
    EXPECT_EQ(bytes == in, filter == Filter::none);
    undo_filter(filter, bytes);
    EXPECT_EQ(bytes, in);
  }
}

// All 65536 halves against a few: every difference comes back, whatever the bits mean.
TEST(Words, DifferencesOfHalvesAreExact) {
  for (const unsigned other : {0x0000U, 0x8000U, 0x3c00U, 0x7c00U, 0xfe01U, 0xffffU}) {
    Bytes all;
    Bytes base;
    for (unsigned bits = 0; bits < 0x10000U; ++bits) {
      all.u16(bits);
      base.u16(other);
    }
    ByteVector bytes = all.get();
    subtract_base(Difference::words_16, bytes, base.get());
    add_base(Difference::words_16, bytes, base.get());
    ASSERT_EQ(bytes, all.get()) << other;
  }
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::uint32_t difference(float value, float base) {
  ByteVector bytes = Bytes().f32(value).get();
  subtract_base(Difference::words_32, bytes, Bytes().f32(base).get());
  return peek<std::uint32_t>(bytes, 0);
}

// A neighbour is 1 or 2 away, over a change of the exponent and over zero.
TEST(Words, DifferencesCountNumbersBetween) {
  EXPECT_EQ(difference(1.0F, 1.0F), 0U);
  EXPECT_EQ(difference(std::nextafter(1.0F, 0.0F), 1.0F), 1U);
  EXPECT_EQ(difference(std::nextafter(1.0F, 2.0F), 1.0F), 2U);
  EXPECT_EQ(difference(-0.0F, 0.0F), 1U);
  EXPECT_EQ(difference(std::nextafter(-1.0F, -2.0F), -1.0F), 1U);
  EXPECT_NE(bits_of(std::nextafter(1.0F, 0.0F)), bits_of(1.0F));
}

TEST(Words, DifferencesOfBytesAndWordsComeBack) {
  for (const Difference kind : {Difference::bytes, Difference::words_16, Difference::words_32}) {
    const ByteVector in = random_bytes(4096, 3);
    const ByteVector base = random_bytes(4096, 4);
    ByteVector bytes = in;
    subtract_base(kind, bytes, base);
    EXPECT_NE(bytes, in);
    add_base(kind, bytes, base);
    EXPECT_EQ(bytes, in);
    subtract_base(kind, bytes, in);
    EXPECT_EQ(bytes, ByteVector(4096)) << "equal values leave nothing";
  }
}

}  // namespace
}  // namespace kvtool::test
