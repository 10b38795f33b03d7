// Which pairs of cells hold the same, and how many do from the first on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// Two cells of one stream.
using CellIndices = std::pair<std::uint32_t, std::uint32_t>;

// Compares K and V of all layers, pair by pair, and stops at the first that differs: no number
// further apart than `tolerance`, or with 0 no byte different. Throws Error(io).
[[nodiscard]] std::size_t equal_prefix(const Source& source, const Stream& stream,
                                       const std::vector<CellIndices>& pairs, double tolerance);

// Of `pairs`, those of which a byte differs in K or V of any layer, in their order; every tensor is
// gone over once for all of them. Throws Error(io).
[[nodiscard]] std::vector<CellIndices> unequal_pairs(const Source& source, const Stream& stream,
                                                     const std::vector<CellIndices>& pairs);

// True if two numbers are no further apart than that.
[[nodiscard]] bool is_within(double tolerance, float a, float b);

}  // namespace kvtool
