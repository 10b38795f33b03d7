// Can the cells of two dumps lie in one cache?
#pragma once

#include "kvtool/dump.h"

namespace kvtool {

// Throws Error(refused) with the name of `other`, what is different, and the conversion that helps
// where one does.
void require_same_shape(const Dump& first, const Dump& other);

}  // namespace kvtool
