// Which dialect a conversion writes.
#pragma once

#include <string>

#include "kvtool/target.h"

namespace kvtool::convert_steps {

// The dialect of the output: the target's era and container, the source's where the target does not
// say. Throws Error(usage) for containers that a conversion does not write.
[[nodiscard]] Dialect target_dialect(const Dump& source, const Target& target);

// As in layout names, e.g. "ggsq4.streams.rot".
[[nodiscard]] std::string dialect_name(const Dialect& dialect);

}  // namespace kvtool::convert_steps
