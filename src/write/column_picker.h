// Picks scattered cells out of the channels of transposed tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvtool/write.h"
#include "write/gather.h"

namespace kvtool {

// Some channels at a time are read whole, so many that they stay in the processor's cache, and the
// elements of each are picked in output order.
class ColumnPicker {
 public:
  explicit ColumnPicker(std::span<const TensorRun> runs);

  // Appends channels [0, width).
  void write(std::uint64_t width, Sink& sink);

 private:
  // The channels of one tensor that are in memory.
  struct Block {
    TensorSource from;
    std::vector<std::byte> bytes;
  };

  struct CellSpan {
    std::uint64_t first;
    std::uint64_t count;
  };

  // Consecutive runs of one tensor. Long runs are copied one by one; of short ones the cells are
  // listed, because a list is faster to follow.
  struct Segment {
    std::size_t block = 0;
    std::uint64_t cells = 0;
    std::vector<CellSpan> runs;
    std::vector<std::uint32_t> list;
  };

  std::size_t block_of(const TensorSource& from);
  void append(const TensorRun& run);
  static void make_list(Segment& segment);
  [[nodiscard]] std::uint64_t channels_a_block() const;
  void load(std::uint64_t first, std::uint64_t count);
  void pick(std::uint64_t channel, std::byte* out) const;

  std::vector<Block> blocks_;
  std::vector<Segment> segments_;
  std::uint64_t element_ = 0;  // bytes
  std::uint64_t cells_ = 0;    // of the output
};

}  // namespace kvtool
