// Out of layouts of before August 2024 and of ik_llama.cpp.
#pragma once

#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// True where the caller lets a part be lost.
[[nodiscard]] bool may_drop(const ConvertOptions& options, const std::string& part);
// True unless logits and embeddings stand there without their places in the batch.
[[nodiscard]] bool places_outputs(const Dialect& dialect);

// Makes the plan's target one that the new layout can hold: as far as it cannot hold them, without
// cells that have no data, unused cells, header struct and filler. Nothing is done where source and
// target agree. Throws Error(refused) for what has no place there.
void leave_source_layout(const Dump& source, const Dialect& to, const Target& target,
                         const ConvertOptions& options, Conversion& result);

}  // namespace kvtool::convert_steps
