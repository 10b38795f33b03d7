#include "write/gather.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace kvtool {
namespace {

// Blocks of this size keep a rewrite far below 64 MiB and are large enough for the disk.
constexpr std::uint64_t block_bytes = 4U << 20U;
// Runs at least this long are worth a copy inside the kernel.
constexpr std::uint64_t long_run_bytes = 256U << 10U;

// A part of a source tensor in memory: rows [first, first + count) or the same channels.
class LoadedBlock {
 public:
  // Bytes [offset, offset + size) of the source; reads only if it does not hold them yet.
  std::span<const std::byte> load(const Source& source, std::uint64_t offset, std::uint64_t size) {
    if (&source != source_ || offset != offset_ || size != bytes_.size()) {
      bytes_.resize(static_cast<std::size_t>(size));
      source.read_at(offset, bytes_);
      source_ = &source;
      offset_ = offset;
    }
    return bytes_;
  }

 private:
  const Source* source_ = nullptr;
  std::uint64_t offset_ = 0;
  std::vector<std::byte> bytes_;
};

// Collects small pieces and hands them on in large blocks.
class Collector {
 public:
  explicit Collector(Sink& sink) : sink_(sink) { bytes_.reserve(block_bytes); }

  void append(std::span<const std::byte> piece) {
    if (bytes_.size() + piece.size() > block_bytes) flush();
    if (piece.size() > block_bytes) return sink_.write(piece);
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
  }
  // Room for a piece that the caller fills.
  std::span<std::byte> extend(std::uint64_t size) {
    if (bytes_.size() + size > block_bytes) flush();
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + static_cast<std::size_t>(size));
    return std::span(bytes_).subspan(begin);
  }
  void flush() {
    if (!bytes_.empty()) sink_.write(bytes_);
    bytes_.clear();
  }

 private:
  Sink& sink_;
  std::vector<std::byte> bytes_;
};

bool fits_in_a_block(const Tensor& tensor) { return tensor.extent.size <= block_bytes; }

// Rows of a run that is too short for a kernel copy: out of a block that holds the whole tensor
// where that is small, straight from the file otherwise.
void append_rows(const TensorRun& run, LoadedBlock& block, Collector& out) {
  const Tensor& tensor = *run.from.tensor;
  const std::uint64_t begin = run.first * tensor.row_bytes;
  const std::uint64_t size = run.count * tensor.row_bytes;
  if (fits_in_a_block(tensor)) {
    const auto whole = block.load(*run.from.source, tensor.extent.offset, tensor.extent.size);
    out.append(whole.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(size)));
  } else {
    run.from.source->read_at(tensor.extent.offset + begin, out.extend(size));
  }
}

// Channels of one source tensor that are in memory together.
struct Channels {
  std::uint64_t first;
  std::uint64_t count;
};

// The elements of a run inside one channel of a loaded block.
std::span<const std::byte> elements(const TensorRun& run, std::span<const std::byte> block,
                                    std::uint64_t channel) {
  const std::uint64_t element = run.from.tensor->element_bytes;
  const std::uint64_t begin = (channel * run.from.cells + run.first) * element;
  return block.subspan(static_cast<std::size_t>(begin),
                       static_cast<std::size_t>(run.count * element));
}

// How many channels of every run's source fit into a block each.
std::uint64_t channels_a_block(std::span<const TensorRun> runs) {
  std::uint64_t widest = 1;
  for (const TensorRun& run : runs)
    widest = std::max(widest, run.from.cells * run.from.tensor->element_bytes);
  return std::max<std::uint64_t>(1, block_bytes / widest);
}

// Loads the same channels of each run's source; runs of one source share a block.
class ChannelBlocks {
 public:
  std::span<const std::byte> load(const TensorRun& run, const Channels& channels) {
    const Tensor& tensor = *run.from.tensor;
    const std::uint64_t channel_bytes = run.from.cells * tensor.element_bytes;
    return block_of(run).load(*run.from.source,
                              tensor.extent.offset + channels.first * channel_bytes,
                              channels.count * channel_bytes);
  }

 private:
  struct Entry {
    const Tensor* tensor;
    std::unique_ptr<LoadedBlock> block;
  };

  LoadedBlock& block_of(const TensorRun& run) {
    for (Entry& entry : entries_)
      if (entry.tensor == run.from.tensor) return *entry.block;
    entries_.push_back({run.from.tensor, std::make_unique<LoadedBlock>()});
    return *entries_.back().block;
  }

  std::vector<Entry> entries_;
};

void append_channels(std::span<const TensorRun> runs, const Channels& channels,
                     ChannelBlocks& blocks, Collector& out) {
  std::vector<std::span<const std::byte>> loaded;
  loaded.reserve(runs.size());
  for (const TensorRun& run : runs) loaded.push_back(blocks.load(run, channels));
  for (std::uint64_t channel = 0; channel < channels.count; ++channel)
    for (std::size_t r = 0; r < runs.size(); ++r)
      out.append(elements(runs[r], loaded[r], channel));
}

}  // namespace

void gather_rows(std::span<const TensorRun> runs, Sink& sink) {
  LoadedBlock block;
  Collector out(sink);
  for (const TensorRun& run : runs) {
    const std::uint64_t row = run.from.tensor->row_bytes;
    if (run.count * row < long_run_bytes) {
      append_rows(run, block, out);
      continue;
    }
    out.flush();
    sink.copy(*run.from.source, run.from.tensor->extent.offset + run.first * row, run.count * row);
  }
  out.flush();
}

void gather_columns(std::span<const TensorRun> runs, Sink& sink) {
  if (runs.empty()) return;
  const std::uint64_t width = runs.front().from.tensor->width;
  const std::uint64_t step = channels_a_block(runs);
  ChannelBlocks blocks;
  Collector out(sink);
  for (std::uint64_t first = 0; first < width; first += step)
    append_channels(runs, {first, std::min(step, width - first)}, blocks, out);
  out.flush();
}

}  // namespace kvtool
