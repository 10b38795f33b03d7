// Memory that is used again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/aligned_bytes.h"

namespace kvtool {

// The first `size` bytes of a buffer that grows and never shrinks, so that it is filled with zeros
// once and not at every use.
[[nodiscard]] inline std::span<std::byte> first_bytes(AlignedBytes& buffer,
                                                      std::uint64_t size) {
  const auto bytes = static_cast<std::size_t>(size);
  if (buffer.size() < bytes) buffer.resize(bytes);
  return std::span(buffer).first(bytes);
}

}  // namespace kvtool
