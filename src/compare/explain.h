// Explanations that are tried on a sample of cells, each with what would have to be true for it.
#pragma once

#include <optional>
#include <string>

#include "compare/verdict.h"

namespace kvtool {

struct Explanation {
  Verdict verdict;
  std::string words;
};

// Relative difference that other kernels, builds and the coarser of both types can make.
[[nodiscard]] double noise_of(const Dump& a, const Dump& b);

// The first explanation that holds: rotation, row order, K and V exchanged, layers exchanged,
// labels, shift.
[[nodiscard]] std::optional<Explanation> explain(const Evidence& evidence, const Comparison& c,
                                                 double noise);
// Only whether cells carry each other's labels.
[[nodiscard]] std::optional<Explanation> explain_labels(const Evidence& evidence, double noise);

}  // namespace kvtool
