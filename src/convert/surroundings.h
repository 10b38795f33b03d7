// What stands around the memories: tokens before them, the tail behind them.
#pragma once

#include "convert/missing.h"
#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// Token area: plain or payload. Throws Error(refused) when media would be lost unasked.
void change_tokens(const Dump& source, Dump& output, const Target& target,
                   const ConvertOptions& options, Conversion& result);

// Architecture, generator text and outputs. Throws Error(refused) for an architecture that nothing
// tells; a generator's text goes to `missing`.
void change_prelude(const Dump& source, Dump& output, const Dialect& dialect, const Target& target,
                    const ConvertOptions& options, Conversion& result, Missing& missing);

// Checkpoints, draft state and trailing bytes that the target's files do not have, or that the
// caller wants gone. Throws Error(refused) when they would be lost unasked.
void drop_lost_tail(const Dump& source, Tail& tail, const Dialect& dialect, const Target& target,
                    const ConvertOptions& options, Conversion& result);

}  // namespace kvtool::convert_steps
