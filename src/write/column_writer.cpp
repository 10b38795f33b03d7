#include "write/column_writer.h"

#include <algorithm>
#include <utility>

#include "kvtool/tensor.h"
#include "write/buffer.h"

namespace kvtool {

void ColumnWriter::begin(const Tensor& target, std::uint64_t cells, std::uint64_t band_bytes) {
  target_ = &target;
  cells_ = cells;
  const std::uint64_t most = band_bytes / std::max<std::uint64_t>(1, target.cell_bytes());
  band_cells_ = std::clamp<std::uint64_t>(most, 1, std::max<std::uint64_t>(1, cells));
  flushed_ = filled_ = 0;
  if (!is_whole() && !sink_.begin_region(cells * target.cell_bytes()))
    spool_ = std::make_unique<TemporaryFile>(Disk::system());
}

void ColumnWriter::put(std::span<const std::byte> rows) {
  const std::uint64_t row = target_->cell_bytes();
  while (!rows.empty()) {
    const std::uint64_t count = std::min(rows.size() / row, band_cells_ - filled_);
    turn(rows.first(static_cast<std::size_t>(count * row)), count);
    rows = rows.subspan(static_cast<std::size_t>(count * row));
    if (filled_ == band_cells_ && !is_whole()) flush();
  }
}

void ColumnWriter::finish() {
  if (is_whole()) return sink_.write(first_bytes(band_, filled_ * target_->cell_bytes()));
  flush();
  if (!spool_) return sink_.end_region();
  const auto spooled = std::exchange(spool_, nullptr)->finish("temporary file");
  sink_.copy(*spooled, 0, cells_ * target_->cell_bytes());
}

void ColumnWriter::turn(std::span<const std::byte> rows, std::uint64_t count) {
  const std::uint64_t element = target_->element_bytes;
  const auto band = first_bytes(band_, band_cells_ * target_->cell_bytes());
  transpose({static_cast<std::size_t>(count), target_->width, target_->element_bytes,
             static_cast<std::size_t>(target_->cell_bytes()),
             static_cast<std::size_t>(band_cells_ * element)},
            rows, band.subspan(static_cast<std::size_t>(filled_ * element)));
  filled_ += count;
}

// The piece of every channel to its place.
void ColumnWriter::flush() {
  const std::uint64_t element = target_->element_bytes;
  for (std::uint64_t channel = 0; channel < target_->width; ++channel)
    write((channel * cells_ + flushed_) * element,
          std::span(band_).subspan(static_cast<std::size_t>(channel * band_cells_ * element),
                                   static_cast<std::size_t>(filled_ * element)));
  flushed_ += std::exchange(filled_, 0);
}

void ColumnWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  spool_ ? spool_->write_at(offset, bytes) : sink_.write_in_region(offset, bytes);
}

}  // namespace kvtool
