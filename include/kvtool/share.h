// Cells that several sequences hold in copies, folded into one.
#pragma once

#include <cstdint>

#include "kvtool/plan.h"

namespace kvtool {

// Folds the cells with which sequences of one stream begin alike: same positions, same tokens as
// far as the dump tells them, and K and V of all layers equal, byte for byte or (with a `tolerance`
// above 0) no number further apart than that. The cells stay with the lower sequence and name the
// higher one too. `plan` must be the identity of an opened dump. Returns how many cells went.
// Throws Error(refused) for files of one sequence, Error(io).
std::uint64_t share_equal_cells(Plan& plan, double tolerance = 0);

}  // namespace kvtool
