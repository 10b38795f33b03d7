// Finds for the sections of a dump what they can be compared with in another one.
#pragma once

#include "kvtool/dump.h"
#include "pack/container.h"
#include "pack/outline.h"

namespace kvtool::packing {

// Gives every tensor of `outline` a base where `base` has the same tensor, of the same type and
// shape, and cells for the same tokens at the same positions; adds the maps of cells to `maps`.
// Whether the difference is smaller is for others to find out.
void match_base(const Dump& dump, const Dump& base, Outline& outline, std::vector<CellMap>& maps);

}  // namespace kvtool::packing
