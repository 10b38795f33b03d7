// What is known about the rotation of a dump's rows, and what its target wants.
#pragma once

#include <memory>

#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// A copy of the dump in which every attention stream says how its rows are rotated, as far as the
// dump's own words, its age or the caller tell. What stays unknown is left at 0.
[[nodiscard]] std::shared_ptr<const Dump> with_known_rotation(const Dump& dump,
                                                              const Target& target,
                                                              const ConvertOptions& options);

// Sets rot_k and rot_v of the attention streams of `state`, a converted copy of `before`, to what
// the target wants. Rows are turned by the writer where the two differ. Throws Error(refused) when
// that depends on something unknown, with what to pass.
void set_rotation(State& state, const State& before, const Dump& source, const Target& target,
                  const ConvertOptions& options);

}  // namespace kvtool::convert_steps
