#include "write/row_reader.h"

#include <algorithm>

#include "kvtool/tensor.h"

namespace kvtool {

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
  rows_.resize(static_cast<std::size_t>(count * run.from.tensor->cell_bytes()));
  if (run.from.tensor->orientation == Orientation::transposed)
    read_columns(run, first, count);
  else
    read_rows(run, first, count);
  return rows_;
}

void RowReader::read_rows(const TensorRun& run, std::uint64_t first, std::uint64_t /*count*/) {
  const Tensor& tensor = *run.from.tensor;
  run.from.source->read_at(tensor.extent.offset + first * tensor.row_bytes, rows_);
}

void RowReader::read_columns(const TensorRun& run, std::uint64_t first, std::uint64_t count) {
  const Tensor& tensor = *run.from.tensor;
  const std::uint64_t element = tensor.element_bytes;
  columns_.resize(rows_.size());
  for (std::uint64_t channel = 0; channel < tensor.width; ++channel) {
    const std::uint64_t at = (channel * run.from.cells + first) * element;
    run.from.source->read_at(tensor.extent.offset + at,
                             std::span(columns_).subspan(
                                 static_cast<std::size_t>(channel * count * element),
                                 static_cast<std::size_t>(count * element)));
  }
  transpose({tensor.width, static_cast<std::size_t>(count), tensor.element_bytes,
             static_cast<std::size_t>(count * element), static_cast<std::size_t>(tensor.cell_bytes())},
            columns_, rows_);
}

}  // namespace kvtool
