// Verbs that consist of verbs: `seq ls`, `store put`.
#pragma once

#include <span>

#include "cli/verb.h"

namespace kvtool::cli {

struct VerbPart {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& verb);
};

// Declares the parts below `verb`; running it without one is an error that lists them.
[[nodiscard]] Action add_parts(CLI::App& verb, std::span<const VerbPart> parts);

}  // namespace kvtool::cli
