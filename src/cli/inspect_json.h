// The facts of a dump as the JSON of `inspect` (schema kvtool/1).
#pragma once

#include "cli/print.h"
#include "kvtool/check.h"
#include "kvtool/dump.h"

namespace kvtool::cli {

[[nodiscard]] Json inspect_json(const Dump& dump);
[[nodiscard]] Json finding_json(const Finding& finding);

}  // namespace kvtool::cli
