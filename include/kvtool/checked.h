// Arithmetic on sizes that cannot wrap: no count of a file is trusted, so every sum and product of
// them goes through here. All throw Error(damaged) with the name of what overflowed.
#pragma once

#include <cstdint>

namespace kvtool {

// a + b in bytes, cells or elements.
[[nodiscard]] std::uint64_t checked_add(std::uint64_t a, std::uint64_t b);
// a * b in bytes, cells or elements.
[[nodiscard]] std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b);

}  // namespace kvtool
