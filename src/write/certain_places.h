// Files that do not store the types of K and V, and whose content does not tell them either.
#pragma once

#include "kvtool/plan.h"

namespace kvtool {

// Throws Error(refused) with the types between which the content does not decide.
[[noreturn]] void refuse_uncertain_types(const State& state);

// Where a cell's K and V lie depends on the types. Labels may change and the data stay where it is;
// for plans that take cells from elsewhere or leave some out, throws as above.
void require_certain_places(const Plan& plan);

}  // namespace kvtool
