// Types whose values cannot be told or made, refused in the same words everywhere.
#pragma once

#include "kvtool/element_type.h"

namespace kvtool {

// Throws Error(unsupported) unless can_decode(type).
void require_known_values(ElementType type);
// Throws Error(unsupported) unless can_encode(type).
void require_known_rounding(ElementType type);

}  // namespace kvtool
