// From layouts of before August 2024 and of ik_llama.cpp to those of llama.cpp since.
#pragma once

#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// Makes the plan's target one that today's layouts can hold: without cells that have no data, unused
// cells, header struct and filler. Nothing is done where source and target agree. Throws
// Error(refused) for what has no place there.
void leave_source_layout(const Dump& source, const Dialect& to, const Target& target,
                         const ConvertOptions& options, Conversion& result);

}  // namespace kvtool::convert_steps
