// A whole dump, front to back.
#pragma once

#include "format/container.h"
#include "format/memories.h"
#include "format/tail.h"
#include "format/walker.h"

namespace kvtool::format {

inline void walk(Walker& io, const Dump& dump) {
  prelude(io, dump);
  prefix(io, dump.state, dump.dialect);
  walk_memories(io, dump.state, dump.dialect);
  tail(io, dump.tail, dump.dialect);
}

}  // namespace kvtool::format
