#include "write/column_picker.h"

#include <algorithm>
#include <cstring>

namespace kvtool {
namespace {

// Input and output blocks of this size fit into the second-level cache together.
constexpr std::uint64_t block_bytes = 256U << 10U;
// Runs that are shorter on average are followed as a list of cells.
constexpr std::uint64_t short_run = 8;

template <class Element>
void pick_listed(std::span<const std::uint32_t> list, const std::byte* channel, std::byte* out) {
  for (const std::uint32_t cell : list) {
    std::memcpy(out, channel + std::size_t{cell} * sizeof(Element), sizeof(Element));
    out += sizeof(Element);
  }
}

void pick_listed(std::span<const std::uint32_t> list, std::uint64_t element,
                 const std::byte* channel, std::byte* out) {
  if (element == 2) return pick_listed<std::uint16_t>(list, channel, out);
  if (element == 4) return pick_listed<std::uint32_t>(list, channel, out);
  for (const std::uint32_t cell : list) {
    std::memcpy(out, channel + cell * element, element);
    out += element;
  }
}

}  // namespace

ColumnPicker::ColumnPicker(std::span<const TensorRun> runs)
    : element_(runs.front().from.tensor->element_bytes) {
  for (const TensorRun& run : runs) append(run);
  for (Segment& segment : segments_)
    if (segment.cells / segment.runs.size() < short_run) make_list(segment);
}

std::size_t ColumnPicker::block_of(const TensorSource& from) {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    if (blocks_[b].from.tensor == from.tensor) return b;
  blocks_.push_back({from, {}});
  return blocks_.size() - 1;
}

void ColumnPicker::append(const TensorRun& run) {
  const std::size_t block = block_of(run.from);
  if (segments_.empty() || segments_.back().block != block) {
    segments_.emplace_back();
    segments_.back().block = block;
  }
  segments_.back().runs.push_back({run.first, run.count});
  segments_.back().cells += run.count;
  cells_ += run.count;
}

void ColumnPicker::make_list(Segment& segment) {
  segment.list.reserve(static_cast<std::size_t>(segment.cells));
  for (const CellSpan& run : segment.runs)
    for (std::uint64_t i = 0; i < run.count; ++i)
      segment.list.push_back(static_cast<std::uint32_t>(run.first + i));
  segment.runs = {};
}

// At least one; as many as fit into a block of the output and of each input.
std::uint64_t ColumnPicker::channels_a_block() const {
  std::uint64_t longest = cells_;
  for (const Block& block : blocks_) longest = std::max(longest, block.from.cells);
  return std::max<std::uint64_t>(1, block_bytes / std::max<std::uint64_t>(1, longest * element_));
}

void ColumnPicker::load(std::uint64_t first, std::uint64_t count) {
  for (Block& block : blocks_) {
    const std::uint64_t channel = block.from.cells * element_;
    block.bytes.resize(static_cast<std::size_t>(count * channel));
    block.from.source->read_at(block.from.tensor->extent.offset + first * channel, block.bytes);
  }
}

// One channel, counted from the first that is loaded.
void ColumnPicker::pick(std::uint64_t channel, std::byte* out) const {
  for (const Segment& segment : segments_) {
    const Block& block = blocks_[segment.block];
    const std::byte* from = block.bytes.data() + channel * block.from.cells * element_;
    pick_listed(segment.list, element_, from, out);
    out += segment.list.size() * element_;
    for (const CellSpan& run : segment.runs) {
      std::memcpy(out, from + run.first * element_, static_cast<std::size_t>(run.count * element_));
      out += run.count * element_;
    }
  }
}

void ColumnPicker::write(std::uint64_t width, Sink& sink) {
  const std::uint64_t step = std::min(width, channels_a_block());
  const std::uint64_t channel_bytes = cells_ * element_;
  std::vector<std::byte> out(static_cast<std::size_t>(step * channel_bytes));
  for (std::uint64_t first = 0; first < width; first += step) {
    const std::uint64_t count = std::min(step, width - first);
    load(first, count);
    for (std::uint64_t channel = 0; channel < count; ++channel)
      pick(channel, out.data() + channel * channel_bytes);
    sink.write(std::span(out).first(static_cast<std::size_t>(count * channel_bytes)));
  }
}

}  // namespace kvtool
