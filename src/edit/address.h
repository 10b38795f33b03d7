// Checks that several edits make on the cells they were asked to touch.
#pragma once

#include <cstdint>
#include <vector>

#include "kvtool/plan.h"

namespace kvtool {

// Throws Error(usage) unless cells [first, first + count) exist in the stream.
void require_cells(const Stream& stream, std::uint64_t first, std::uint64_t count);

// 0, 1, 2 ... one for each cell: the order that changes nothing.
std::vector<std::uint32_t> same_order(const Stream& stream);

// The stream at an address and those of other attention caches that list the same cells, which an
// edit that gives them another order has to treat alike. Throws Error(usage) if there is no such
// stream, and Error(refused) if its order means something.
std::vector<Stream*> streams_in_step(Plan& plan, std::uint32_t memory, std::uint32_t stream);

}  // namespace kvtool
