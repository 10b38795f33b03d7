// CRC-32 as zlib computes it, which the sidecars of old dumps hold of every row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvtool::test {

inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

}  // namespace kvtool::test
