// prefix --extract: what all files begin with, as a file of its own.
#pragma once

#include "cli/prompt_set.h"
#include "cli/rewrite.h"

namespace kvtool::cli {

struct ExtractOptions {
  RewriteOptions rewrite;
  std::string from;        // whose K/V to take without comparing
  double tolerance = 0;    // largest difference of two values of K or V that still counts as none
  std::uint32_t window = 0;
};

// Writes the longest common prefix of all files of the set. Throws Error(refused) if they share
// nothing, are of different shapes, or hold different K/V for the shared tokens.
void extract(PromptSet& set, const ExtractOptions& options);

}  // namespace kvtool::cli
