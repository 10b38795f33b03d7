// The states of checkpoints: they hold only the memories that cannot be rewound.
#pragma once

#include <optional>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// For each memory of `part`, the index of the memory of `whole` that it is a copy of: all of them,
// or only window caches and recurrent states. Nothing when they do not belong together.
[[nodiscard]] std::optional<std::vector<std::size_t>> counterparts(const State& whole,
                                                                   const State& part);

}  // namespace kvtool
