// Valid dumps of every layout with random shapes: what the tiny dumps (tiny_dump.h) have in common by
// their fixed size, these do not.
#pragma once

#include <cstdint>

#include "support/tiny_dump.h"

namespace kvtool::test {

// A dump of the layout of `tiny` with other layers, widths, types, streams and cells: positions with
// gaps and in any order, cells of several sequences, cells that nobody uses, as far as the layout has
// them. The same for the same seed.
[[nodiscard]] TinyDump randomised(const TinyDump& tiny, std::uint64_t seed);

}  // namespace kvtool::test
