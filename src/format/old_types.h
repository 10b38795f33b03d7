// Types of K and V in sessions of before August 2024, which do not store them.
#pragma once

#include <utility>
#include <vector>

#include "format/header_struct.h"
#include "kvtool/dump.h"

namespace kvtool::format {

// Of K, and of V.
using CacheTypes = std::pair<ElementType, ElementType>;

// Pairs that a cache of the model could have had in a build that wrote the dialect; `transposed`:
// its V is.
std::vector<CacheTypes> possible_types(const Dialect& dialect, const HeaderFacts& model,
                                       bool transposed);

}  // namespace kvtool::format
