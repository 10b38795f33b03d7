// The tiny dumps (tiny_dump.h) of before August 2024, and those of the fork that left then.
#pragma once

#include <vector>

#include "support/tiny_dump.h"

namespace kvtool::test {

// The bytes of one: sessions 0 to 7, slot files of version 1.
[[nodiscard]] ByteVector build_old(const TinyDump& tiny);
// The fork's state, behind what the prelude puts.
void put_ik_state(Bytes& out, const TinyDump& tiny);

// One of every layout.
[[nodiscard]] std::vector<TinyDump> tiny_old_dumps();
[[nodiscard]] std::vector<TinyDump> tiny_ik_dumps();

}  // namespace kvtool::test
