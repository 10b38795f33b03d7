// Files that do not say where the K and V of a cell lie: those that do not store types and whose
// content does not tell them either, and those of is_misaligned().
#pragma once

#include "kvtool/plan.h"

namespace kvtool {

// Throws Error(refused) with the types between which the content does not decide.
[[noreturn]] void refuse_uncertain_types(const State& state);

// Labels may change and the data stay where it is. For plans that take cells of such files from
// elsewhere or leave some out, throws Error(refused) with the reason; for misaligned rows also if
// their type changes.
void require_certain_places(const Plan& plan);

}  // namespace kvtool
