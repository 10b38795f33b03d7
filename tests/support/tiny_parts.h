// What tiny dumps of several ages have in common.
#pragma once

#include <cstdint>

#include "support/bytes.h"

namespace kvtool::test {

inline void put_rows(Bytes& out, std::uint32_t type, std::uint64_t row, std::uint32_t cells) {
  out.u32(type).u64(row).filler(static_cast<std::size_t>(row) * cells);
}

inline void put_tokens(Bytes& out, std::uint32_t n) {
  out.u32(n);
  for (std::uint32_t i = 0; i < n; ++i) out.u32(40 + i);
}

// The shortest text that passes for a generator's.
inline constexpr std::uint32_t rng_bytes = 1000;

inline void put_rng(Bytes& out) {
  for (std::uint32_t i = 0; i < rng_bytes / 4; ++i) out.text("123 ");
}

}  // namespace kvtool::test
