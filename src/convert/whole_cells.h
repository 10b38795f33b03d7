// Where a conversion begins: with the whole file, or with what it has of one whose cells are cut.
#pragma once

#include <memory>

#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// The identity of a dump. Of one with misaligned rows (kvtool/dump.h) the beginning up to the first
// cell that the file does not have whole, which is a cost; its source then has the rows at their
// true distance, which only other types can store. Throws Error(refused) unless that may be dropped
// and K is given another type.
[[nodiscard]] Plan whole_cells_of(const std::shared_ptr<const Dump>& dump, const Target& target,
                                  const ConvertOptions& options, Conversion& result);

}  // namespace kvtool::convert_steps
