// What tiny dumps of several ages have in common.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "support/bytes.h"

namespace kvtool::test {

// Bytes of `elements` of a type, by the number that a dump has for it.
inline std::uint64_t bytes_of_type(std::uint32_t type, std::uint64_t elements) {
  switch (type) {
    case 0: return elements * 4;        // f32
    case 1:                             // f16
    case 30: return elements * 2;       // bf16
    case 2: return elements / 32 * 18;  // q4_0
    case 8: return elements / 32 * 34;  // q8_0
    default: throw std::logic_error("no size for this type");
  }
}

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
