#include "edit/cell_digests.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

namespace kvtool {
namespace {

constexpr std::uint64_t panel_bytes = 1U << 20U;

// The digest of what came before and one more element.
std::uint64_t mixed(std::uint64_t digest, std::span<const std::byte> element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element.data(), element.size());
  return std::rotl((digest ^ bits) * 0x9e3779b97f4a7c15U, 29);
}

// Cells [first, end) of a stream.
struct CellSpan {
  std::uint64_t first = 0;
  std::uint64_t end = 0;
};

// The wanted ones among the next `most` from `first` on begin and end it. Empty if there are none.
CellSpan wanted_span(const std::vector<bool>& wanted, std::uint64_t first, std::uint64_t most) {
  std::uint64_t end = std::min<std::uint64_t>(wanted.size(), first + most);
  while (first < end && !wanted[static_cast<std::size_t>(first)]) ++first;
  while (first < end && !wanted[static_cast<std::size_t>(end - 1)]) --end;
  return {first, end};
}

}  // namespace

void for_each_wanted_row(
    const Source& source, const Tensor& tensor, const std::vector<bool>& wanted,
    const std::function<void(std::size_t cell, std::span<const std::byte> row)>& f) {
  const auto row = static_cast<std::size_t>(tensor.cell_bytes());
  const std::uint64_t step = std::max<std::uint64_t>(1, panel_bytes / row);
  std::vector<std::byte> rows;
  for (std::uint64_t first = 0; first < wanted.size(); first += step) {
    const CellSpan span = wanted_span(wanted, first, step);
    rows.resize(static_cast<std::size_t>(span.end - span.first) * row);
    if (!rows.empty()) source.read_at(tensor.extent.offset + span.first * row, rows);
    for (std::size_t i = 0; i < rows.size() / row; ++i) {
      const auto cell = static_cast<std::size_t>(span.first) + i;
      if (wanted[cell]) f(cell, std::span(rows).subspan(i * row, row));
    }
  }
}

CellDigests::CellDigests(const Source& source, const Stream& stream, std::uint64_t mask)
    : source_(source), mask_(mask), digests_(stream.cells.size(), 0) {}

void CellDigests::add(const Tensor& tensor, const std::vector<bool>& wanted) {
  if (tensor.cell_bytes() == 0) return;
  if (tensor.orientation == Orientation::transposed)
    add_channels(tensor, wanted);
  else
    add_rows(tensor, wanted);
}

void CellDigests::add_rows(const Tensor& tensor, const std::vector<bool>& wanted) {
  for_each_wanted_row(source_, tensor, wanted,
                      [&](std::size_t cell, std::span<const std::byte> row) {
                        digests_[cell] =
                            mask_ & XXH3_64bits_withSeed(row.data(), row.size(), digests_[cell]);
                      });
}

// Channel by channel, a band of cells at a time: a channel holds one element of every cell.
void CellDigests::add_channels(const Tensor& tensor, const std::vector<bool>& wanted) {
  const std::uint64_t cells = wanted.size();
  const std::size_t element = tensor.element_bytes;
  std::vector<std::byte> channel;
  const std::uint64_t step = panel_bytes / element;
  for (std::uint64_t first = 0; first < cells; first += step) {
    const CellSpan span = wanted_span(wanted, first, step);
    channel.resize(static_cast<std::size_t>(span.end - span.first) * element);
    for (std::uint64_t c = 0; c < tensor.width && !channel.empty(); ++c) {
      source_.read_at(tensor.extent.offset + (c * cells + span.first) * element, channel);
      for (std::size_t i = 0; i < channel.size() / element; ++i) {
        const auto cell = static_cast<std::size_t>(span.first) + i;
        if (wanted[cell])
          digests_[cell] =
              mask_ & mixed(digests_[cell], std::span(channel).subspan(i * element, element));
      }
    }
  }
}

}  // namespace kvtool
