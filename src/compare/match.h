// Which cell of one dump is which cell of another.
#pragma once

#include <cstdint>
#include <vector>

#include "kvtool/compare.h"

namespace kvtool {

// A cell by where it lies: stream and index inside a memory.
struct CellPlace {
  std::uint32_t stream = 0;
  std::uint32_t cell = 0;
  bool operator==(const CellPlace&) const = default;
};

struct CellPair {
  CellKey key;
  CellPlace a;
  CellPlace b;
};

// A cell that only one side has.
struct LoneCell {
  CellKey key;
  CellPlace place;
};

// The cells of one memory of both dumps. Each pair of places appears once, in the order of A.
struct MemoryMatch {
  std::vector<CellPair> pairs;
  std::vector<LoneCell> only_a;
  std::vector<LoneCell> only_b;
  std::uint64_t moved = 0;
};

// Matches memory `memory` of both, within the sequence and positions of the options.
[[nodiscard]] MemoryMatch match_cells(const Dump& a, const Dump& b, std::uint32_t memory,
                                      const CompareOptions& options);

}  // namespace kvtool
