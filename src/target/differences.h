// Everything in which a dump differs from what a target reads, whatever the loader meets first.
#pragma once

#include <vector>

#include "kvtool/restore.h"
#include "target/loader_shape.h"

namespace kvtool::target {

// In the order of the file, one for each kind of difference and memory.
[[nodiscard]] std::vector<Reason> differences(const Dump& dump, const Target& target);

// What no loader notices, with the time that it is about.
[[nodiscard]] std::vector<Finding> silent_dangers(const Dump& dump, const Target& target);

}  // namespace kvtool::target
