// Types of K and V that a file does not store, judged by the values they would give.
#pragma once

#include <vector>

#include "kvtool/dump.h"

namespace kvtool::format {

// Share of sampled values that are what caches hold when taken as this tensor's type, 0 to 1: plain
// numbers of usual size, blocks whose scale and extreme levels fit each other.
[[nodiscard]] double plausibility(const Source& source, const Tensor& tensor);

// Of readings that differ in such types, keeps the likeliest and tells all in its
// State::type_readings, with the evidence in Dump::why. Readings whose types are stored stay.
void keep_likeliest_types(std::vector<Dump>& readings);

}  // namespace kvtool::format
