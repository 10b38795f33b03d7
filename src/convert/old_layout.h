// Into layouts of before August 2024: what their files have besides K, V and cells.
#pragma once

#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// Gives the plan's target, already of the right tensors, what a session of versions 1 to 7 has around
// them: header struct, sizes of context and cache, filler. They come from a dump of the target
// (options.like), from the source where it is of such a time, or from the target's settings. Checks
// what can be held. Nothing is done for other layouts, or where source and target agree and nothing is
// said of the target. Throws Error(refused) for what has no place there, and for what is missing, with
// how to say it.
void enter_old_layout(const Dump& source, const Dialect& to, const Target& target,
                      const ConvertOptions& options, Conversion& result);

// Throws Error(refused) unless a slot file of version 1 can hold the dump, already of the right tensors.
void need_old_slot(const Dump& output);

}  // namespace kvtool::convert_steps
