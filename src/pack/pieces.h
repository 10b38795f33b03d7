// Which bytes of a section are compared with which bytes of the base.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kvtool/source.h"
#include "pack/container.h"

namespace kvtool::packing {

// Consecutive bytes of a chunk, with the place of what they are compared with, if anything.
struct Piece {
  std::uint32_t size = 0;
  std::optional<std::uint64_t> base_offset;  // in the base
};

// The pieces of one chunk, in order. `map` is the section's.
[[nodiscard]] std::vector<Piece> pieces_of(const Section& section, const CellMap& map,
                                           std::uint64_t chunk);

// Bytes of all pieces that have a base.
[[nodiscard]] std::size_t compared_bytes(std::span<const Piece> pieces);

// What they are compared with, one after another, read from the base.
void read_base(std::span<const Piece> pieces, const Source& base, std::vector<std::byte>& out);

}  // namespace kvtool::packing
