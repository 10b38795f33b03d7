// Recurrent states of layouts in which the place of a state says whose it is
// (format::places_tell_sequences).
#pragma once

#include "kvtool/dump.h"

namespace kvtool {

// Throws Error(refused) if such states of this memory would change their order.
void require_free_order(const Dump& dump, const Memory& memory);

// Brings the states of `target` to the places of their sequences, after an edit has changed whose
// they are. A place whose sequence is gone keeps the bytes that it had in `before`, and belongs to
// nobody. A state of several sequences stands in the place of each. Throws Error(refused) for a
// sequence that has no place. Nothing is done for other layouts.
void return_states(const State& before, Dump& target);

// Orders states that come from several files by their sequences. Throws Error(refused) if one
// before the last has none. Nothing is done for other layouts.
void order_states(Dump& target);

}  // namespace kvtool
