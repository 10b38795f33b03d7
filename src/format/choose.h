// Which of several readings of the same bytes to take, and why.
#pragma once

#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool::format {

// True when two dumps read the same bytes as the same cells and tensors, whatever they call them.
[[nodiscard]] bool same_reading(const Dump& a, const Dump& b);

// Picks from readings that all end on the last byte, the likelier layouts first. The reasons are
// added to Dump::why. Throws Error(refused) naming the layouts when the bytes do not decide.
[[nodiscard]] Dump choose(std::vector<Dump> readings);

}  // namespace kvtool::format
