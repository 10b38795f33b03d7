// The report of verbs that cut, join or shift sequences: what became of cells, tokens and tail.
#pragma once

#include <string>

#include "cli/rewrite.h"
#include "kvtool/sequences.h"

namespace kvtool::cli {

// Writes the edit's output and prints its figures: `headline` first, in JSON the members of
// `figures`.
void write_edit(const SequenceEdit& edit, const RewriteOptions& options,
                const std::string& headline, const Json& figures);

}  // namespace kvtool::cli
