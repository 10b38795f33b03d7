// What lies around the memories of a dump: outputs before them, checkpoints and draft behind them.
#pragma once

#include <vector>

#include "kvtool/compare.h"

namespace kvtool {

// Compares the memories of both alone. Fills all but Comparison::parts.
[[nodiscard]] Comparison compare_memories(const Dump& a, const Dump& b,
                                          const CompareOptions& options);

// Parts that only one of them has: a conversion can leave them out, so they make no other content.
void note_lone_parts(const Dump& a, const Dump& b, std::vector<HeaderDifference>& header);

// Parts that both have, checkpoints matched by their number of tokens.
[[nodiscard]] std::vector<PartComparison> compare_parts(const Dump& a, const Dump& b,
                                                        const CompareOptions& options);

}  // namespace kvtool
