// What a change of positions does to the tail of a slot file.
#pragma once

#include "edit/change_state.h"
#include "edit/token_places.h"
#include "kvtool/sequences.h"

namespace kvtool {

// Checkpoints before the change stay, those whose cells all move go along, the others go, as they
// do when their tokens cannot be counted. `whole` is the state of the file before the change.
void change_tail(SequenceEdit& edit, const State& whole, const PositionMap& map,
                 const std::optional<TokenPlaces>& places, const RopeFacts* rope);

}  // namespace kvtool
