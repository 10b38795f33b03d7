// Rows that go out as columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "io/aligned_bytes.h"
#include "io/temporary_file.h"
#include "kvtool/write.h"

namespace kvtool {

// Collects the rows of a tensor that is stored transposed in a band of columns. A tensor that fits
// into one goes out as a whole; of a larger one the pieces of every channel go where they belong in
// the sink, or through a temporary file if that can only go forward.
class ColumnWriter {
 public:
  explicit ColumnWriter(Sink& sink) : sink_(sink) {}

  // A tensor of `cells` cells; a band takes at most `band_bytes`, or one cell.
  void begin(const Tensor& target, std::uint64_t cells, std::uint64_t band_bytes);
  // The next cells, as rows.
  void put(std::span<const std::byte> rows);
  // After the last cell.
  void finish();

 private:
  [[nodiscard]] bool is_whole() const { return band_cells_ >= cells_; }
  void turn(std::span<const std::byte> rows, std::uint64_t count);
  void flush();
  void write(std::uint64_t offset, std::span<const std::byte> bytes);

  Sink& sink_;
  const Tensor* target_ = nullptr;
  std::uint64_t cells_ = 0;
  std::uint64_t band_cells_ = 0;  // columns of a band
  std::uint64_t flushed_ = 0;     // cells that are written
  std::uint64_t filled_ = 0;      // cells in the band
  std::unique_ptr<TemporaryFile> spool_;
  AlignedBytes band_;
};

}  // namespace kvtool
