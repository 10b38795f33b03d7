// Whether what an index says can be true: sentences, empty when nothing is wrong.
#pragma once

#include <string>

#include "pack/container.h"

namespace kvtool::packing {

[[nodiscard]] std::string problem_of(const CellMap& map);
// A section, once the maps of the index are known.
[[nodiscard]] std::string problem_of(const Section& section, const Index& index);
// All ranges: they fill the sections and the file.
[[nodiscard]] std::string problem_of_ranges(const Index& index, std::uint64_t raw_size);

// How many chunks and frames all sections have. Throw Error(damaged) when that overflows.
[[nodiscard]] std::uint64_t chunks_in(const Index& index);
[[nodiscard]] std::uint64_t frames_in(const Index& index);

}  // namespace kvtool::packing
