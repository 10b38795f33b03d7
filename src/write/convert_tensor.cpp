#include "write/convert_tensor.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "io/temporary_file.h"
#include "write/row_reader.h"

namespace kvtool {
namespace {

constexpr std::uint64_t panel_bytes = 8U << 20U;

std::uint64_t cells_of(std::span<const TensorRun> runs) {
  std::uint64_t cells = 0;
  for (const TensorRun& run : runs) cells += run.count;
  return cells;
}

// Where the rows of a transposed output go, band by band: into the sink itself if it can be
// filled out of order, else through a temporary file.
class ColumnWriter {
 public:
  ColumnWriter(Sink& sink, const Tensor& target, std::uint64_t cells)
      : sink_(sink), target_(target), cells_(cells), size_(cells * target.cell_bytes()) {
    if (!sink_.begin_region(size_)) spool_ = std::make_unique<TemporaryFile>(Disk::system());
  }

  // Cells [first, first + count), given as rows.
  void put(std::span<const std::byte> rows, std::uint64_t first, std::uint64_t count) {
    columns_.resize(rows.size());
    const std::uint64_t piece = count * target_.element_bytes;
    transpose({static_cast<std::size_t>(count), target_.width, target_.element_bytes,
               static_cast<std::size_t>(target_.cell_bytes()), static_cast<std::size_t>(piece)},
              rows, columns_);
    for (std::uint64_t channel = 0; channel < target_.width; ++channel)
      write((channel * cells_ + first) * target_.element_bytes,
            std::span(columns_).subspan(static_cast<std::size_t>(channel * piece),
                                        static_cast<std::size_t>(piece)));
  }

  void finish() {
    if (!spool_) return sink_.end_region();
    const auto spooled = spool_->finish("temporary file");
    sink_.copy(*spooled, 0, size_);
  }

 private:
  void write(std::uint64_t offset, std::span<const std::byte> bytes) {
    spool_ ? spool_->write_at(offset, bytes) : sink_.write_in_region(offset, bytes);
  }

  Sink& sink_;
  const Tensor& target_;
  std::uint64_t cells_;
  std::uint64_t size_;
  std::unique_ptr<TemporaryFile> spool_;
  std::vector<std::byte> columns_;
};

// Walks the cells in panels: read as rows, convert, write as rows or columns.
class TensorConverter {
 public:
  TensorConverter(const TensorJob& job, Sink& sink, ErrorFigures& errors)
      : job_(job), sink_(sink), errors_(errors), reader_(job.runs) {}

  void run() {
    const std::uint64_t cells = cells_of(job_.runs);
    const std::uint64_t step = panel_cells();
    const bool columns = job_.target.orientation == Orientation::transposed;
    std::unique_ptr<ColumnWriter> turned;
    if (columns) turned = std::make_unique<ColumnWriter>(sink_, job_.target, cells);
    for (std::uint64_t first = 0; first < cells; first += step) {
      const std::uint64_t count = std::min(step, cells - first);
      fill(first, count);
      columns ? turned->put(panel_, first, count) : sink_.write(panel_);
    }
    if (columns) turned->finish();
  }

 private:
  std::uint64_t panel_cells() const {
    std::uint64_t cell = std::max<std::uint64_t>(1, job_.target.cell_bytes());
    for (const TensorRun& run : job_.runs) cell = std::max(cell, run.from.tensor->cell_bytes());
    return std::max<std::uint64_t>(1, panel_bytes / cell);
  }

  void fill(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t row = job_.target.cell_bytes();
    panel_.resize(static_cast<std::size_t>(count * row));
    reader_.read(first, count, [&](const Tensor& from, std::uint64_t at, auto rows) {
      const std::uint64_t n = rows.size() / from.cell_bytes();
      RowConverter& converter = converter_for(from);
      converter.convert(rows,
                        std::span(panel_).subspan(static_cast<std::size_t>((at - first) * row),
                                                  static_cast<std::size_t>(n * row)),
                        converter.is_copy() ? nullptr : &errors_);
    });
  }

  std::uint32_t rotation_of(const Tensor& tensor) const {
    for (std::size_t r = 0; r < job_.runs.size(); ++r)
      if (job_.runs[r].from.tensor == &tensor) return job_.rotated[r];
    return 0;
  }

  // Runs of one source share a converter.
  RowConverter& converter_for(const Tensor& from) {
    const RowForm form{from.type, rotation_of(from)};
    for (Converter& known : converters_)
      if (known.form == form) return known.converter;
    converters_.push_back({form, RowConverter(form, {job_.target.type, job_.rotation},
                                              static_cast<std::size_t>(job_.target.cell_elements()))});
    return converters_.back().converter;
  }

  struct Converter {
    RowForm form;
    RowConverter converter;
  };

  const TensorJob& job_;
  Sink& sink_;
  ErrorFigures& errors_;
  std::vector<Converter> converters_;
  RowReader reader_;
  std::vector<std::byte> panel_;
};

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.orientation == b.orientation && a.type == b.type && a.row_bytes == b.row_bytes &&
         a.element_bytes == b.element_bytes && a.width == b.width;
}

}  // namespace

bool needs_no_conversion(const TensorJob& job) {
  for (std::size_t r = 0; r < job.runs.size(); ++r)
    if (!same_shape(*job.runs[r].from.tensor, job.target) || job.rotated[r] != job.rotation)
      return false;
  return true;
}

void convert_tensor(const TensorJob& job, Sink& sink, ErrorFigures& errors) {
  TensorConverter(job, sink, errors).run();
}

}  // namespace kvtool
