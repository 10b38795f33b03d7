// What merging and appending have in common: several dumps as parts of one plan.
#pragma once

#include <memory>
#include <vector>

#include "kvtool/sequences.h"

namespace kvtool {

using DumpList = std::vector<std::shared_ptr<const Dump>>;

// One edit for each dump; run numbers say which dump a cell comes from. Throws Error(usage) for no
// dumps, Error(refused) unless all have the shape of the first.
[[nodiscard]] std::vector<SequenceEdit> parts_of(const DumpList& dumps);

// Appends the cells of `from` to those of `to`.
void append_cells(Stream& to, const Stream& from);

// The stream that holds cells; the first if none does.
[[nodiscard]] Stream& filled_stream(Memory& memory);

}  // namespace kvtool
