// Rows of chosen cells of a tensor, whichever way they are stored.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "io/aligned_bytes.h"
#include "write/gather.h"

namespace kvtool {

// Reads the cells of a list of runs as rows: cell i of the list is row i, with the elements of one
// cell next to each other. A transposed tensor is turned on the way, a band of cells at a time.
class RowReader {
 public:
  explicit RowReader(std::span<const TensorRun> runs) : runs_(runs) {}

  // Calls take(tensor, first, rows) for pieces that make up cells [first, first + count) of the
  // list, in order; `rows` are whole rows in the tensor's own type.
  using Take = std::function<void(const Tensor&, std::uint64_t, std::span<const std::byte>)>;
  void read(std::uint64_t first, std::uint64_t count, const Take& take);

 private:
  std::span<const std::byte> rows_of(const TensorRun& run, std::uint64_t first,
                                     std::uint64_t count);
  void read_rows(const TensorRun& run, std::uint64_t first, std::uint64_t count);
  void read_columns(const TensorRun& run, std::uint64_t first, std::uint64_t count);

  std::span<const TensorRun> runs_;
  std::size_t run_ = 0;      // the run that was last read from
  std::uint64_t begin_ = 0;  // its first cell in the list
  AlignedBytes rows_;
  AlignedBytes columns_;
};

}  // namespace kvtool
