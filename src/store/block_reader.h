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

// Reads and unpacks all that lies at a place. Throws Error(io, damaged).
[[nodiscard]] RawBlock read_block(const BlockStorage& storage, const BlockPlace& place,
                                  BlockUnpacker& unpacker);

// Only the head. Throws Error(io, damaged).
[[nodiscard]] BlockHead read_block_head(const BlockStorage& storage, const BlockPlace& place);

// The first `cells` cells of a block.
[[nodiscard]] RawBlock first_cells(const RawBlock& block, std::uint32_t cells);

}  // namespace kvtool::store
