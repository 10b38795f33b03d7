// For tests of kvtool/share.h.
#pragma once

#include <cstdint>

#include "kvtool/plan.h"

namespace kvtool {

// share_equal_cells with the digests of cells cut down to the bits of `digest_mask`: then many
// cells have the digest of others, and only the proof keeps them apart.
std::uint64_t share_by_digests(Plan& plan, double tolerance, std::uint64_t digest_mask);

}  // namespace kvtool
