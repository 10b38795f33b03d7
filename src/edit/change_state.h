// A change of positions, applied to one state: that of the file or one of its tail.
#pragma once

#include <functional>
#include <memory>

#include "edit/members.h"
#include "edit/position_map.h"
#include "kvtool/rope.h"

namespace kvtool {

// The rope of a memory, by its index; nothing where K does not turn or only labels are changed.
using RopeOfMemory = std::function<std::shared_ptr<const CacheRope>(std::size_t)>;

// Throws Error(refused) unless every memory can follow.
void require_change(const State& state, const Members& members, const PositionMap& map);

// Changes labels, and marks the cells whose K has to turn where there is a rope for it.
void change_state(State& state, const Members& members, const PositionMap& map,
                  const RopeOfMemory& rope);

}  // namespace kvtool
