// The memories of a state, whoever wrote it.
#pragma once

#include "format/ik_llama.h"
#include "format/old_state.h"
#include "format/state.h"

namespace kvtool::format {

// Presents the memories of a state in file order.
template <class Io>
void walk_memories(Io& io, const State& state, const Dialect& dialect) {
  if (dialect.family == Family::ik_llama) return ik_state(io, state, dialect);
  if (dialect.body != Body::current) return old_state(io, state, dialect);
  walk_parts(io, state, dialect);
}

}  // namespace kvtool::format
