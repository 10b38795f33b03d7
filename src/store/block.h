// Blocks, the rows of a few cells, tensor after tensor; and bundles, which is how they are packed.
//
// A block is what is found again: up to 8 cells. Blocks that are put one after another are packed
// together, because more rows shrink more: a bundle. Raw, either of n cells and the tensors 0, 1,
// ... is the n rows of tensor 0, those of tensor 1 and so on. Packed, a bundle is a head and the
// frames of its chunks; a chunk is one tensor, or several small ones of one row size. A block of
// plain bytes is one cell of one tensor whose row they are.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kvtool/element_type.h"
#include "pack/chunk.h"
#include "store/bytes.h"

namespace kvtool::store {

// No block has more raw bytes; what would is cut as plain bytes.
inline constexpr std::uint32_t most_block_bytes = packing::most_chunk_bytes;
// And no bundle.
inline constexpr std::uint32_t most_bundle_bytes = 4U << 20U;

struct BlockShape {
  std::uint32_t cells = 1;
  std::vector<std::uint32_t> row_bytes;  // of each tensor

  // Of one cell in all tensors, and of all.
  [[nodiscard]] std::uint64_t cell_bytes() const;
  [[nodiscard]] std::uint64_t bytes() const { return cell_bytes() * cells; }
  bool operator==(const BlockShape&) const = default;
};

// XXH3-128 of the raw bytes: the name of a block. Two contents can have one name; whoever finds a
// block by its name compares the bytes.
struct BlockName {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const BlockName&) const = default;
  auto operator<=>(const BlockName&) const = default;
};
[[nodiscard]] BlockName name_of(std::span<const std::byte> raw);
// XXH3 of the rows of the first cell alone: blocks that begin alike have it in common.
[[nodiscard]] std::uint64_t beginning_of(const BlockShape& shape, std::span<const std::byte> raw);

// A chunk as the head describes it.
struct ChunkHead {
  std::uint32_t tensors = 1;  // consecutive ones of one row size
  std::uint32_t row_bytes = 0;
  packing::Section section;  // filter, parts and size
  std::uint64_t hash = 0;    // XXH3 of the raw chunk
  std::vector<std::uint32_t> frame_sizes;
  std::uint64_t offset = 0;  // of its frames in the packed block
  std::uint64_t packed = 0;  // bytes of its frames
};

struct BundleHead {
  std::uint32_t cells = 0;
  std::vector<ChunkHead> chunks;

  [[nodiscard]] BlockShape shape() const;
};

// Bytes that say how long the head is.
inline constexpr std::size_t head_size_bytes = sizeof(std::uint32_t);
[[nodiscard]] std::uint32_t head_size(std::span<const std::byte> first);
// A head that is all there. Throws Error(damaged); what it declares is within the limits.
[[nodiscard]] BundleHead read_head(std::span<const std::byte> head);

// What the bytes of a row are; nothing for those that are no numbers.
using ContentType = std::optional<ElementType>;

// Packs bundles, each chunk in the way that a sample of the same kind showed to be best. One for
// each thread and put.
class BundlePacker {
 public:
  explicit BundlePacker(int level) : level_(level) {}

  // Fills `packed`. `kind`: bundles of one kind have the same tensors; `types` are theirs.
  void pack(std::uint64_t kind, std::span<const ContentType> types, const BlockShape& shape,
            std::span<const std::byte> raw, ByteVector& packed);

 private:
  struct Coding {
    packing::Section section;
    packing::SectionModes modes;
  };
  Coding& coding_of(std::uint64_t kind, std::size_t chunk, ContentType type,
                    std::uint32_t row_bytes, std::span<const std::byte> sample);

  int level_;
  std::map<std::pair<std::uint64_t, std::size_t>, Coding> codings_;
  packing::ChunkTools tools_;
  packing::ChunkData work_;
  ByteVector head_;
  ByteVector frames_;
};

// Unpacks chunks and whole bundles. One for each thread.
class BundleUnpacker {
 public:
  // The raw bytes of one chunk, until the next call. Throws Error(damaged).
  [[nodiscard]] const ByteVector& chunk(const ChunkHead& head, std::span<const std::byte> frames);
  // Fills `raw` with all bytes of a packed bundle; returns its head.
  BundleHead bundle(std::span<const std::byte> packed, ByteVector& raw);

 private:
  packing::ChunkTools tools_;
  packing::ChunkData work_;
};

// Raw bytes with their shape, held by somebody else.
struct RawView {
  const BlockShape& shape;
  std::span<const std::byte> raw;
};

// Whether `count` cells of both are equal, from a cell of each on. False where the tensors differ
// or one has not so many.
[[nodiscard]] bool cells_alike(const RawView& a, std::uint32_t first_a, const RawView& b,
                               std::uint32_t first_b, std::uint32_t count);
// Appends `count` cells, as the raw bytes of a block of their own.
void append_cells(const RawView& from, std::uint32_t first, std::uint32_t count, ByteVector& out);

}  // namespace kvtool::store
