// The raw blocks of a dump's file, one after another, in the order of its recipe, and in batches of
// neighbours that could be one bundle.
#pragma once

#include <cstdint>
#include <vector>

#include "store/cutter.h"
#include "write/row_reader.h"

namespace kvtool::store {

class BlockMaker {
 public:
  BlockMaker(const Dump& dump, const Cut& cut);

  struct Batch {
    std::uint64_t kind = 0;  // batches of one kind have the same tensors
    std::vector<ContentType> types;
    BlockShape shape;  // of all blocks together
    ByteVector raw;
    std::vector<std::uint32_t> ends;  // where each block's cells end
    bool of_cells = false;

    [[nodiscard]] RawView view() const { return {shape, raw}; }
  };
  // Fills `batch` with the next blocks; false at the end.
  bool next(Batch& batch);

 private:
  // Rows of one tensor in the order of the blocks.
  struct Rows {
    std::vector<TensorRun> runs;
    RowReader reader;
  };

  bool next_bytes(Batch& batch);
  bool next_cells(Batch& batch);
  void take_blocks(Batch& batch);
  void begin_part();
  void begin_group();
  void read_ranges(const BytesPart& part, std::uint64_t first, std::span<std::byte> out) const;

  const Source& source_;
  const Cut& cut_;
  // The next block of bytes:
  std::size_t bytes_part_ = 0;
  std::uint64_t bytes_block_ = 0;
  // The next block of cells:
  std::size_t cells_part_ = 0;
  std::size_t group_ = 0;
  std::size_t cells_block_ = 0;
  std::vector<Rows> rows_;        // of the tensors of the group
  std::uint64_t widest_row_ = 1;  // bytes, among them
};

}  // namespace kvtool::store
