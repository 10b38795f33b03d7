// A label for every byte of a dump.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// Consecutive bytes with one meaning.
struct MapRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string label;  // path of scopes and the field, e.g. "memory[0].stream[0].layer[1].k_data"
};

// All ranges of the file in order; they touch, begin at 0 and end at the file's size (asserted).
// `every_field`: cells and tokens field by field instead of one range for all.
[[nodiscard]] std::vector<MapRange> map_of(const Dump& dump, bool every_field = false);

// The same in large pieces: header, tokens, prelude, each memory's cells, K and V, the tail.
[[nodiscard]] std::vector<MapRange> sections_of(const Dump& dump);

}  // namespace kvtool
