// Which dialect a conversion writes.
#pragma once

#include <string>

#include "kvtool/convert.h"
#include "kvtool/target.h"

namespace kvtool::convert_steps {

// The dialect of the output: the target's era and container, the source's where the target does not
// say; of the layouts that an era of before August 2024 has, the one called `layout`, that of `like`,
// the only one of its days, or the one with the source's header struct. Throws Error(usage) for
// containers that a conversion does not write and for a `layout` that is none of the era's,
// Error(refused) where nothing decides.
[[nodiscard]] Dialect target_dialect(const Dump& source, const Target& target, const Dump* like,
                                     const std::string& layout);

// As in layout names, e.g. "ggsq4.streams.rot".
[[nodiscard]] std::string dialect_name(const Dialect& dialect);

}  // namespace kvtool::convert_steps
