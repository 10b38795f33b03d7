// Rows to columns and columns to rows in bands of any size, against one element after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "support/bytes.h"
#include "write/column_writer.h"
#include "write/row_reader.h"

namespace kvtool::test {
namespace {

constexpr std::size_t element = 2;

Tensor transposed(std::uint32_t width) {
  Tensor tensor;
  tensor.orientation = Orientation::transposed;
  tensor.type = ElementType::f16;
  tensor.element_bytes = element;
  tensor.width = width;
  return tensor;
}

ByteVector random_bytes(std::size_t size) {
  std::mt19937 random(7);
  ByteVector bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Element (row, column) of a matrix of that many columns.
const std::byte* at(const ByteVector& matrix, std::size_t columns, std::size_t row,
                    std::size_t column) {
  return matrix.data() + (row * columns + column) * element;
}

ByteVector turned(const ByteVector& in, std::size_t rows, std::size_t columns) {
  ByteVector out;
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t r = 0; r < rows; ++r)
      out.insert(out.end(), at(in, columns, r, c), at(in, columns, r, c) + element);
  return out;
}

// In memory, and filled in any order.
class RegionSink final : public Sink {
 public:
  void write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  bool begin_region(std::uint64_t size) override {
    begin_ = bytes_.size();
    bytes_.resize(begin_ + static_cast<std::size_t>(size));
    return true;
  }
  void write_in_region(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(begin_ + offset));
  }
  [[nodiscard]] const ByteVector& bytes() const { return bytes_; }

 private:
  std::size_t begin_ = 0;
  ByteVector bytes_;
};

// What stands in a sink before.
const std::size_t bytes_before = 3;

// What a sink gets of rows that arrive `step` at a time, behind something else.
template <class AnySink>
ByteVector written(const ByteVector& rows, const Tensor& target, std::uint64_t band_bytes,
                   std::size_t step) {
  AnySink sink;
  sink.write(random_bytes(bytes_before));
  ColumnWriter writer(sink);
  const auto row = static_cast<std::size_t>(target.cell_bytes());
  for (int again = 0; again < 2; ++again) {  // its memory serves several tensors
    writer.begin(target, rows.size() / row, band_bytes);
    for (std::size_t first = 0; first < rows.size(); first += step * row)
      writer.put(std::span(rows).subspan(first, std::min(step * row, rows.size() - first)));
    writer.finish();
  }
  return sink.bytes();
}

TEST(ColumnWriter, BandsOfAnySize) {
  constexpr std::size_t cells = 100;
  constexpr std::size_t width = 37;
  const ByteVector rows = random_bytes(cells * width * element);
  const ByteVector columns = turned(rows, cells, width);
  ByteVector expected = random_bytes(bytes_before);
  for (int again = 0; again < 2; ++again)
    expected.insert(expected.end(), columns.begin(), columns.end());
  for (const std::uint64_t band : {0U, 1U, 7U, 64U, 99U, 100U, 1000U})
    for (const std::size_t step : {1U, 16U, 100U}) {
      const std::uint64_t bytes = band * width * element;
      EXPECT_EQ(written<RegionSink>(rows, transposed(width), bytes, step), expected) << band;
      EXPECT_EQ(written<MemorySink>(rows, transposed(width), bytes, step), expected) << band;
    }
}

TEST(ColumnWriter, NoCells) {
  EXPECT_EQ(written<RegionSink>({}, transposed(8), 100, 1).size(), bytes_before);
  EXPECT_EQ(written<MemorySink>({}, transposed(8), 0, 1).size(), bytes_before);
}

// Runs of two tensors in mixed order, read in pieces of `step` cells.
ByteVector read_rows(std::span<const TensorRun> runs, std::uint64_t band_bytes,
                     std::uint64_t step) {
  RowReader reader;
  reader.begin(runs, band_bytes);
  std::uint64_t cells = 0;
  for (const TensorRun& run : runs) cells += run.count;
  ByteVector all;
  for (std::uint64_t first = 0; first < cells; first += step)
    reader.read(first, std::min(step, cells - first),
                [&](const Tensor&, std::uint64_t, std::span<const std::byte> rows) {
                  all.insert(all.end(), rows.begin(), rows.end());
                });
  return all;
}

TEST(RowReader, ColumnsInBandsOfAnySize) {
  constexpr std::size_t cells = 60;
  constexpr std::size_t width = 19;
  const ByteVector rows = random_bytes(cells * width * element);
  ByteVector file(5);  // the tensor does not begin the file
  const ByteVector columns = turned(rows, cells, width);
  file.insert(file.end(), columns.begin(), columns.end());
  const auto source = memory_source("columns", file);
  Tensor tensor = transposed(width);
  tensor.extent = {5, columns.size()};
  Tensor other = tensor;  // the same bytes under another name
  const TensorSource a{source.get(), &tensor, cells};
  const TensorSource b{source.get(), &other, cells};
  const std::vector<TensorRun> runs = {{a, 30, 20}, {b, 0, 3}, {a, 5, 1}, {a, 2, 40}, {b, 59, 1}};
  ByteVector expected;
  for (const TensorRun& run : runs)
    expected.insert(expected.end(), at(rows, width, run.first, 0),
                    at(rows, width, run.first + run.count, 0));
  for (const std::uint64_t band : {0U, 1U, 9U, 59U, 60U})
    for (const std::uint64_t step : {1U, 7U, 65U})
      EXPECT_EQ(read_rows(runs, band * width * element, step), expected) << band << ", " << step;
}

}  // namespace
}  // namespace kvtool::test
