#include "write/row_reader.h"

#include <algorithm>

#include "kvtool/tensor.h"
#include "write/buffer.h"

namespace kvtool {

void RowReader::begin(std::span<const TensorRun> runs, std::uint64_t band_bytes) {
  runs_ = runs;
  band_bytes_ = band_bytes;
  run_ = 0;
  begin_ = 0;
  band_ = {};
}

void RowReader::read(std::uint64_t first, std::uint64_t count, const Take& take) {
  if (first < begin_) run_ = begin_ = 0;  // readers mostly go forward
  for (; run_ < runs_.size(); begin_ += runs_[run_++].count) {
    const TensorRun& run = runs_[run_];
    const std::uint64_t from = std::max(first, begin_);
    const std::uint64_t to = std::min(first + count, begin_ + run.count);
    if (from < to) take(*run.from.tensor, from, rows_of(run, run.first + from - begin_, to - from));
    if (begin_ + run.count >= first + count) return;
  }
}

std::span<const std::byte> RowReader::rows_of(const TensorRun& run, std::uint64_t first,
                                              std::uint64_t count) {
  const Tensor& tensor = *run.from.tensor;
  const auto rows = first_bytes(rows_, count * tensor.cell_bytes());
  if (tensor.orientation == Orientation::transposed)
    turn_columns(run, first, count, rows);
  else
    run.from.source->read_at(tensor.extent.offset + first * tensor.row_bytes, rows);
  return rows;
}

void RowReader::turn_columns(const TensorRun& run, std::uint64_t first, std::uint64_t count,
                             std::span<std::byte> rows) {
  const Tensor& tensor = *run.from.tensor;
  const std::uint64_t element = tensor.element_bytes;
  if (band_.tensor != &tensor || first < band_.first ||
      first + count > band_.first + band_.count)
    load_band(run, first, count);
  const std::uint64_t skipped = (first - band_.first) * element;
  const std::uint64_t size = tensor.width * band_.count * element;
  const auto columns = std::span<const std::byte>(columns_).subspan(
      static_cast<std::size_t>(skipped), static_cast<std::size_t>(size - skipped));
  transpose({tensor.width, static_cast<std::size_t>(count), tensor.element_bytes,
             static_cast<std::size_t>(band_.count * element),
             static_cast<std::size_t>(tensor.cell_bytes())},
            columns, rows);
}

// The whole tensor if it may be held, for runs in any order; else from `first` on, at least `count`
// cells, and as many of the run as may be held.
void RowReader::load_band(const TensorRun& run, std::uint64_t first, std::uint64_t count) {
  const Tensor& tensor = *run.from.tensor;
  const std::uint64_t most = band_bytes_ / std::max<std::uint64_t>(1, tensor.cell_bytes());
  band_ = {&tensor, first, std::min(run.first + run.count - first, std::max(count, most))};
  if (run.from.cells <= most) band_ = {&tensor, 0, run.from.cells};
  const std::uint64_t piece = band_.count * tensor.element_bytes;
  const std::uint64_t channel = run.from.cells * tensor.element_bytes;
  const auto columns = first_bytes(columns_, tensor.width * piece);
  const std::uint64_t begin = tensor.extent.offset + band_.first * tensor.element_bytes;
  if (piece == channel) return run.from.source->read_at(begin, columns);
  for (std::uint64_t c = 0; c < tensor.width; ++c)
    run.from.source->read_at(begin + c * channel,
                             columns.subspan(static_cast<std::size_t>(c * piece),
                                             static_cast<std::size_t>(piece)));
}

}  // namespace kvtool
