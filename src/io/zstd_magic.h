// What zstd files begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace kvtool {

[[nodiscard]] inline bool begins_like_zstd(std::span<const std::byte> head) {
  constexpr std::uint32_t frame = 0xfd2fb528;
  constexpr std::uint32_t skippable = 0x184d2a50;  // and the 15 numbers behind it
  std::uint32_t word = 0;
  if (head.size() < sizeof word) return false;
  std::memcpy(&word, head.data(), sizeof word);
  return word == frame || (word & 0xfffffff0U) == skippable;
}

}  // namespace kvtool
