// What tensors are called in text for people.
#pragma once

#include <cstdint>

#include "kvtool/dump.h"

namespace kvtool::cli {

// K and V of an attention cache, R and S of a recurrent state.
inline const char* part_letter(const Dump& dump, std::uint32_t memory, bool is_v) {
  if (dump.state.memories[memory].kind == MemoryKind::recurrent) return is_v ? "S" : "R";
  return is_v ? "V" : "K";
}

}  // namespace kvtool::cli
