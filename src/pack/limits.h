// What keeps memory bounded, whatever is asked for.
#pragma once

#include <algorithm>

namespace kvtool::packing {

// Each thread has two chunks on their way and a compressor: about 3 MiB, and 8 MiB where it looks
// hard for repeats.
inline constexpr unsigned most_threads = 16;
inline constexpr unsigned most_threads_of_high_levels = 6;
inline constexpr int high_level = 7;

[[nodiscard]] inline unsigned usable_threads(unsigned wanted, int level = 1) {
  return std::clamp(wanted, 1U, level < high_level ? most_threads : most_threads_of_high_levels);
}

}  // namespace kvtool::packing
