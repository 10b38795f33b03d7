// From figures to a sentence: what kind of difference this is.
#pragma once

#include <vector>

#include "compare/match.h"
#include "kvtool/compare.h"

namespace kvtool {

// What the verdict looks at, beside the figures in the comparison.
struct Evidence {
  const Dump& a;
  const Dump& b;
  const std::vector<MemoryMatch>& matches;  // one a memory
  const std::vector<CellDifference>& cells; // one a pair, all memories
  const CompareOptions& options;
};

// Fills Comparison::verdict and words.
void judge(const Evidence& evidence, Comparison& comparison);

}  // namespace kvtool
