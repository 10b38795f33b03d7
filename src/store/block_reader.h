// Packed blocks read back.
#pragma once

#include "store/block.h"
#include "store/block_storage.h"

namespace kvtool::store {

// A block with its raw bytes.
struct RawBlock {
  BlockShape shape;
  ByteVector raw;
};

// Reads blocks whole, one after another in the same memory.
class BlockReader {
 public:
  explicit BlockReader(const BlockStorage& storage) : storage_(storage) {}

  // All that lies at a place, until the next call. Throws Error(io, damaged).
  const RawBlock& read(const BlockPlace& place);

 private:
  const BlockStorage& storage_;
  BlockUnpacker unpacker_;
  ByteVector packed_;
  RawBlock block_;
};

// Only the head. Throws Error(io, damaged).
[[nodiscard]] BlockHead read_block_head(const BlockStorage& storage, const BlockPlace& place);

// The first `cells` cells of a block.
[[nodiscard]] RawBlock first_cells(const RawBlock& block, std::uint32_t cells);

}  // namespace kvtool::store
