// Does a window cache still hold what the next token looks back to?
#pragma once

#include <string>

#include "edit/members.h"
#include "edit/position_map.h"

namespace kvtool {

// Throws Error(refused), naming the oldest place for a cut, when a window cache of `after` lacks a
// cell that a token behind the end of a changed sequence looks back to. `window`: positions that
// the model looks back; 0: as many as `before` held.
void require_windows(const Dump& before, const Dump& after, const Members& members,
                     const PositionMap& map, std::uint32_t window);

// What a refusal adds to show a way back: "; there are checkpoints at 25, 29 tokens", or nothing.
[[nodiscard]] std::string checkpoint_hint(const Dump& dump);

}  // namespace kvtool
