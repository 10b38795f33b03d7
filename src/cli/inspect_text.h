// The facts of a dump as text for people.
#pragma once

#include "cli/print.h"
#include "kvtool/dump.h"

namespace kvtool::cli {

void inspect_text(const Dump& dump, Printer& out);

}  // namespace kvtool::cli
