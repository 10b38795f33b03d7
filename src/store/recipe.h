// How a saved file is put together from blocks.
//
// All bytes of the file belong to parts. A part of bytes is some ranges, one after another, cut
// into blocks of equal size. A part of cells is the K and V (or R and S) of one stream: its cells,
// by sequence and position, a few for each block, and its tensors in groups, so that a block is
// some cells of some tensors. Tensors that are stored transposed are rows in blocks like all
// others.
#pragma once

#include <cstdint>
#include <vector>

#include "kvtool/dump.h"
#include "store/bytes.h"

namespace kvtool::store {

// Key of a block in the catalogue.
using BlockId = std::uint64_t;

// Cells of a block at most: so many positions of a sequence, where rows are not too large for that.
inline constexpr std::uint32_t cells_per_block = 8;

struct BytesPart {
  std::vector<Extent> ranges;
  std::uint32_t block_bytes = 0;  // raw bytes of every block but the last
  std::vector<BlockId> blocks;

  [[nodiscard]] std::uint64_t size() const;
  [[nodiscard]] std::uint64_t block_count() const;
};

struct CellTensor {
  std::uint64_t offset = 0;  // of its bytes in the file
  std::uint32_t cell_bytes = 0;
  std::uint32_t element_bytes = 0;  // transposed: of one element; in rows: 0
  bool operator==(const CellTensor&) const = default;
};

// Consecutive cells of the stream.
struct CellSpan {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const CellSpan&) const = default;
};

struct CellsPart {
  std::uint32_t cells = 0;
  std::vector<CellTensor> tensors;
  std::vector<std::uint32_t> group_ends;  // where each group of tensors ends
  std::vector<CellSpan> order;            // all cells in the order of the blocks
  std::vector<std::uint32_t> block_ends;  // where each block's cells end in that order
  std::vector<BlockId> blocks;            // all blocks of the first group, of the second, ...

  [[nodiscard]] BlockId block(std::size_t group, std::size_t block) const {
    return blocks[group * block_ends.size() + block];
  }
};

struct Recipe {
  std::uint64_t size = 0;  // of the file
  std::vector<BytesPart> bytes;
  std::vector<CellsPart> cells;
};

// Calls f(id) for every block, in the order in which they were put.
template <class F>
void for_each_block(Recipe& recipe, F&& f) {
  for (BytesPart& part : recipe.bytes)
    for (BlockId& id : part.blocks) f(id);
  for (CellsPart& part : recipe.cells)
    for (BlockId& id : part.blocks) f(id);
}

// As bytes, and back. Throws Error(damaged) for what does not make up the file.
[[nodiscard]] ByteVector recipe_bytes(const Recipe& recipe);
[[nodiscard]] Recipe recipe_in(std::span<const std::byte> bytes);
// The same, packed as the catalogue keeps it.
[[nodiscard]] ByteVector encode(const Recipe& recipe);
[[nodiscard]] Recipe decode_recipe(std::span<const std::byte> bytes);

}  // namespace kvtool::store
