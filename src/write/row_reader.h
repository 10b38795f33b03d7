// Rows of chosen cells of a tensor, whichever way they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "io/aligned_bytes.h"
#include "write/gather.h"

namespace kvtool {

// Reads the cells of a list of runs as rows: cell i of the list is row i, with the elements of one
// cell next to each other. A transposed tensor is read in bands of cells, each held as it is stored
// and turned as far as rows are asked for.
class RowReader {
 public:
  RowReader() = default;
  explicit RowReader(std::span<const TensorRun> runs) { begin(runs); }

  // Another list of runs, which must outlive its use. Memory is kept. A band takes at most
  // `band_bytes`, or what one call of read() asks for.
  void begin(std::span<const TensorRun> runs, std::uint64_t band_bytes = 0);

  // Calls take(tensor, first, rows) for pieces that make up cells [first, first + count) of the
  // list, in order; `rows` are whole rows in the tensor's own type.
  using Take = std::function<void(const Tensor&, std::uint64_t, std::span<const std::byte>)>;
  void read(std::uint64_t first, std::uint64_t count, const Take& take);
  // While a piece is taken: the run that it belongs to.
  [[nodiscard]] std::size_t run() const { return run_; }

 private:
  // Cells [first, first + count) of a transposed tensor, one channel after the other.
  struct Band {
    const Tensor* tensor = nullptr;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };

  std::span<const std::byte> rows_of(const TensorRun& run, std::uint64_t first,
                                     std::uint64_t count);
  void turn_columns(const TensorRun& run, std::uint64_t first, std::uint64_t count,
                    std::span<std::byte> rows);
  void load_band(const TensorRun& run, std::uint64_t first, std::uint64_t count);

  std::span<const TensorRun> runs_;
  std::uint64_t band_bytes_ = 0;
  std::size_t run_ = 0;      // the run that was last read from
  std::uint64_t begin_ = 0;  // its first cell in the list
  Band band_;                // what is in columns_
  AlignedBytes rows_;
  AlignedBytes columns_;
};

}  // namespace kvtool
