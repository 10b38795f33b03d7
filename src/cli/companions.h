// Files that ik_llama.cpp's server keeps beside a slot file.
#pragma once

#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool::cli {

// Paths of those that exist beside a dump of that family: NAME.tokens.json, whose ids win over
// those in NAME, and NAME.checkpoints, without which a recurrent model cannot go back.
[[nodiscard]] std::vector<std::string> companions_of(const Dump& dump);

}  // namespace kvtool::cli
