// The sequences of a stream place by place, with the cells that other caches have for them.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// A place in a sequence: the cells of an image have one position and places of their own.
struct CellPlace {
  Position position = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
  auto operator<=>(const CellPlace&) const = default;
};

[[nodiscard]] CellPlace place_of(const CellTable& cells, std::size_t cell);

// Stands where a cache has no cell for a place, as a window has none for those that left it.
inline constexpr std::uint32_t no_cell = 0xffffffff;

struct PlacedSequence {
  SequenceId id = 0;
  // For each stream its cells, by the ascending places of the first stream; of several cells at one
  // place the first. The first stream has a cell for each place.
  std::vector<std::vector<std::uint32_t>> cells;
  std::vector<TokenId> tokens;  // of the first places, as far as they are known
  [[nodiscard]] std::size_t size() const { return cells.front().size(); }
};

// The sequences of the first stream, by ascending ids and without tokens.
[[nodiscard]] std::vector<PlacedSequence> placed_sequences(
    const std::vector<const Stream*>& streams);

}  // namespace kvtool
