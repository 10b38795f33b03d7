// Into layouts of before August 2024: what their files have besides K, V and cells.
#pragma once

#include <memory>

#include "convert/missing.h"
#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// Gives the plan's target, already of the right tensors, what a session of versions 0 to 7 has around
// them: header struct, sizes of context and cache, filler. They come from options, from a dump of the
// target (options.like), from the source where it is of such a time, and from the target's model; what
// none of them tells goes to `missing`. Checks what can be held. Nothing is done for other layouts, or
// where source and target agree and nothing is said of the target. Throws Error(refused) for what has
// no place there, and for what contradicts.
void enter_old_layout(const Dump& source, const Dialect& to, const Target& target,
                      const ConvertOptions& options, Conversion& result, Missing& missing);

// Puts K and V of the plan's target, of a session of version 0, into the memory of `reference`: its
// records of objects and what it had not given away. Cells behind those in use are zeros, as in a
// cache of the time. Throws Error(refused) for another size of context, other types, and a number of
// tokens that is not that of the cells, for it is all that tells how many are in use.
void enter_pool(const std::shared_ptr<const Dump>& reference, Conversion& result);

// Throws Error(refused) unless a slot file of version 1 can hold the dump, already of the right tensors.
void need_old_slot(const Dump& output);

}  // namespace kvtool::convert_steps
