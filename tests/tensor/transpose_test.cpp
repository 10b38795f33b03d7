// Transposition against the plain way, for every element size, panels with edges, and strides.
#include "tensor/transpose.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/bytes.h"

namespace kvtool {
namespace {

using test::ByteVector;

constexpr std::byte untouched{0xee};

Panel packed(std::size_t rows, std::size_t columns, std::size_t element_bytes) {
  return {rows, columns, element_bytes, columns * element_bytes, rows * element_bytes};
}

ByteVector transposed(const Panel& panel, const ByteVector& in, std::size_t out_size) {
  ByteVector out(out_size, untouched);
  transpose(panel, in, out);
  return out;
}

ByteVector transposed_plainly(const Panel& panel, const ByteVector& in, std::size_t out_size) {
  ByteVector out(out_size, untouched);
  reference::transpose(panel, in, out);
  return out;
}

TEST(Transpose, TwoByThree) {
  const ByteVector in = test::Bytes().u16(1).u16(2).u16(3).u16(4).u16(5).u16(6).get();
  const ByteVector out = test::Bytes().u16(1).u16(4).u16(2).u16(5).u16(3).u16(6).get();
  EXPECT_EQ(transposed(packed(2, 3, 2), in, 12), out);
  EXPECT_EQ(transposed_plainly(packed(2, 3, 2), in, 12), out);
}

TEST(Transpose, LikeThePlainWayAndBack) {
  for (const std::size_t element_bytes : {1U, 2U, 4U})
    for (const std::size_t rows : {1U, 7U, 64U, 100U, 256U})
      for (const std::size_t columns : {1U, 15U, 64U, 130U, 192U}) {
        const std::size_t size = rows * columns * element_bytes;
        const ByteVector in = test::Bytes().filler(size).get();
        const ByteVector out = transposed(packed(rows, columns, element_bytes), in, size);
        ASSERT_EQ(out, transposed_plainly(packed(rows, columns, element_bytes), in, size))
            << rows << " x " << columns << " x " << element_bytes;
        ASSERT_EQ(transposed(packed(columns, rows, element_bytes), out, size), in);
      }
}

// A few rows of a larger matrix, into the middle of the larger result: how a writer streams.
TEST(Transpose, PanelsAddUpToTheWhole) {
  constexpr std::size_t rows = 300;
  constexpr std::size_t columns = 96;
  const ByteVector in = test::Bytes().filler(rows * columns * 2).get();
  ByteVector out(in.size(), untouched);
  for (std::size_t row = 0; row < rows; row += 70) {
    const std::size_t some = std::min<std::size_t>(70, rows - row);
    transpose({some, columns, 2, columns * 2, rows * 2},
              std::span(in).subspan(row * columns * 2, some * columns * 2),
              std::span(out).subspan(row * 2));
  }
  EXPECT_EQ(out, transposed_plainly(packed(rows, columns, 2), in, in.size()));
}

TEST(Transpose, LeavesWhatLiesBetweenRowsAlone) {
  for (const std::size_t element_bytes : {1U, 2U, 4U}) {
    const Panel panel{70, 90, element_bytes, 90 * element_bytes + 5, 70 * element_bytes + 3};
    const ByteVector in = test::Bytes().filler(70 * panel.in_stride).get();
    const std::size_t out_size = 90 * panel.out_stride;
    const ByteVector out = transposed(panel, in, out_size);
    EXPECT_EQ(out, transposed_plainly(panel, in, out_size));
    for (std::size_t i = 0; i < 90; ++i)
      EXPECT_EQ(out[i * panel.out_stride + 70 * element_bytes], untouched);
  }
}

TEST(Transpose, PanelsThatDoNotFit) {
  ByteVector bytes(64);
  ByteVector out(64);
  EXPECT_NO_THROW(transpose(packed(4, 8, 2), bytes, out));
  EXPECT_THROW(transpose(packed(5, 8, 2), bytes, out), std::logic_error);
  EXPECT_THROW(transpose({4, 8, 2, 15, 8}, bytes, out), std::logic_error);
  EXPECT_THROW(transpose({4, 8, 2, 16, 7}, bytes, out), std::logic_error);
  EXPECT_THROW(transpose({4, 8, 2, 16, 8}, bytes, std::span(out).first(63)), std::logic_error);
  EXPECT_THROW(transpose(packed(4, 2, 8), bytes, out), std::logic_error);
  EXPECT_NO_THROW(transpose(packed(0, 8, 2), {}, {}));
}

}  // namespace
}  // namespace kvtool
