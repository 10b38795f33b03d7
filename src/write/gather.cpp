#include "write/gather.h"

#include "write/column_picker.h"

namespace kvtool {
namespace {

// A list of so many ranges is passed on; it takes as much memory as a block of bytes.
constexpr std::size_t most_ranges = 1U << 16U;
// Runs of a channel from this size on are copied, shorter ones are picked out of a block.
constexpr std::uint64_t long_run_bytes = 512;

// Collects ranges of one source after the other and passes them on as long lists.
class RangeList {
 public:
  explicit RangeList(Sink& sink) : sink_(sink) {}

  void add(const Source& source, const Extent& range) {
    if (range.size == 0) return;
    if (source_ != &source || ranges_.size() == most_ranges) flush();
    source_ = &source;
    if (!ranges_.empty() && ranges_.back().end() == range.offset)
      ranges_.back().size += range.size;
    else
      ranges_.push_back(range);
  }

  void flush() {
    if (!ranges_.empty()) sink_.copy_ranges(*source_, ranges_);
    ranges_.clear();
  }

 private:
  Sink& sink_;
  const Source* source_ = nullptr;
  std::vector<Extent> ranges_;
};

// Bytes that a run takes in one channel, on average.
std::uint64_t mean_run_bytes(std::span<const TensorRun> runs) {
  std::uint64_t bytes = 0;
  for (const TensorRun& run : runs) bytes += run.count * run.from.tensor->element_bytes;
  return bytes / runs.size();
}

void copy_channels(std::span<const TensorRun> runs, std::uint64_t width, Sink& sink) {
  RangeList out(sink);
  for (std::uint64_t channel = 0; channel < width; ++channel)
    for (const TensorRun& run : runs) {
      const Tensor& tensor = *run.from.tensor;
      const std::uint64_t cell = channel * run.from.cells + run.first;
      out.add(*run.from.source, {tensor.extent.offset + cell * tensor.element_bytes,
                                 run.count * tensor.element_bytes});
    }
  out.flush();
}

}  // namespace

void gather_rows(std::span<const TensorRun> runs, Sink& sink) {
  RangeList out(sink);
  for (const TensorRun& run : runs) {
    const Tensor& tensor = *run.from.tensor;
    out.add(*run.from.source,
            {tensor.extent.offset + run.first * tensor.row_bytes, run.count * tensor.row_bytes});
  }
  out.flush();
}

void gather_columns(std::span<const TensorRun> runs, Sink& sink) {
  if (runs.empty()) return;
  const std::uint64_t width = runs.front().from.tensor->width;
  if (mean_run_bytes(runs) >= long_run_bytes)
    copy_channels(runs, width, sink);
  else
    ColumnPicker(runs).write(width, sink);
}

}  // namespace kvtool
