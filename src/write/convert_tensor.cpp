#include "write/convert_tensor.h"

#include <algorithm>

#include "write/buffer.h"

namespace kvtool {
namespace {

// Rows that pass through at once: few, so that they stay in the processor's cache.
constexpr std::uint64_t panel_bytes = 256U << 10U;
// What is held of transposed sides, together: far below 64 MiB with all the rest.
constexpr std::uint64_t most_columns = 36U << 20U;

bool is_transposed(const Tensor& tensor) { return tensor.orientation == Orientation::transposed; }

std::uint64_t cells_of(std::span<const TensorRun> runs) {
  std::uint64_t cells = 0;
  for (const TensorRun& run : runs) cells += run.count;
  return cells;
}

std::uint64_t panel_cells(const TensorJob& job) {
  std::uint64_t cell = std::max<std::uint64_t>(1, job.target.cell_bytes());
  for (const TensorRun& run : job.runs) cell = std::max(cell, run.from.tensor->cell_bytes());
  return std::max<std::uint64_t>(1, panel_bytes / cell);
}

// What one of the sides may hold.
std::uint64_t band_bytes(const TensorJob& job) {
  const bool both = is_transposed(job.target) &&
                    std::any_of(job.runs.begin(), job.runs.end(), [](const TensorRun& run) {
                      return is_transposed(*run.from.tensor);
                    });
  return both ? most_columns / 2 : most_columns;
}

std::uint32_t rotation_of(const TensorJob& job, const Tensor& tensor) {
  for (std::size_t r = 0; r < job.runs.size(); ++r)
    if (job.runs[r].from.tensor == &tensor) return job.rotated[r];
  return 0;
}

bool turns(const TensorJob& job, std::size_t run) {
  return job.rope != nullptr && !job.shifts.empty() && job.shifts[run] != 0;
}

}  // namespace

bool needs_no_conversion(const TensorJob& job) {
  for (std::size_t r = 0; r < job.runs.size(); ++r)
    if (!same_form(*job.runs[r].from.tensor, job.target) || job.rotated[r] != job.rotation ||
        turns(job, r))
      return false;
  return true;
}

void TensorConverter::run(const TensorJob& job, ErrorFigures* errors) {
  const std::uint64_t cells = cells_of(job.runs);
  const std::uint64_t step = panel_cells(job);
  const bool columns = is_transposed(job.target);
  converters_.clear();
  turner_.reset();
  reader_.begin(job.runs, band_bytes(job));
  if (columns) columns_.begin(job.target, cells, band_bytes(job));
  for (std::uint64_t first = 0; first < cells; first += step) {
    const auto rows = converted(job, first, std::min(step, cells - first), errors);
    columns ? columns_.put(rows) : sink_.write(rows);
  }
  if (columns) columns_.finish();
}

// Cells [first, first + count) as rows of the target; until the next call.
std::span<const std::byte> TensorConverter::converted(const TensorJob& job, std::uint64_t first,
                                                      std::uint64_t count, ErrorFigures* errors) {
  const std::uint64_t row = job.target.cell_bytes();
  std::span<const std::byte> all;
  reader_.read(first, count, [&](const Tensor& from, std::uint64_t at, auto rows) {
    const std::uint64_t n = rows.size() / from.cell_bytes();
    const bool turning = turns(job, reader_.run());
    if (n == count && !turning && converter_for(job, from).is_copy()) return void(all = rows);
    const auto panel = first_bytes(panel_, count * row);
    const auto out = panel.subspan(static_cast<std::size_t>((at - first) * row),
                                   static_cast<std::size_t>(n * row));
    all = panel;
    if (turning) return turner_for(job, reader_.run()).convert(rows, out, errors);
    RowConverter& converter = converter_for(job, from);
    converter.convert(rows, out, converter.is_copy() ? nullptr : errors);
  });
  return all;
}

// Runs of one source share a converter.
RowConverter& TensorConverter::converter_for(const TensorJob& job, const Tensor& from) {
  const RowForm form{from.type, rotation_of(job, from), from.row_headers()};
  for (Converter& known : converters_)
    if (known.form == form) return known.converter;
  converters_.push_back({form, RowConverter(form, {job.target.type, job.rotation},
                                            static_cast<std::size_t>(job.target.cell_elements()))});
  return converters_.back().converter;
}

RowTurner& TensorConverter::turner_for(const TensorJob& job, std::size_t run) {
  const RowForm form{job.runs[run].from.tensor->type, job.rotated[run]};
  const Position shift = job.shifts[run];
  if (!turner_ || turner_form_ != form || turner_shift_ != shift)
    turner_.emplace(form, RowForm{job.target.type, job.rotation},
                    static_cast<std::size_t>(job.target.cell_elements()), *job.rope, shift);
  turner_form_ = form;
  turner_shift_ = shift;
  return *turner_;
}

}  // namespace kvtool
