// Whether two files are one and the same, byte by byte.
#pragma once

#include "kvtool/source.h"

namespace kvtool {

// Reads both up to the first difference, on `threads` threads.
[[nodiscard]] bool same_bytes(const Source& a, const Source& b, unsigned threads);

}  // namespace kvtool
