// Sums over the values of a row in two dumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kvtool/element_type.h"
#include "tensor/pair_sums.h"

namespace kvtool {

// Values that are not finite on both sides are counted and left out of the sums.
struct Sums : PairSums {
  std::uint64_t values = 0;
  std::uint64_t not_finite = 0;  // NaN or Inf on one side only, or another one
  std::uint64_t not_finite_in_both = 0;  // NaN on both sides, or the same infinity
  void add(const Sums& other);
};

// Both of one length.
[[nodiscard]] Sums compare_values(std::span<const float> a, std::span<const float> b,
                                  const Tolerance& tolerance);

// The same from rows of one type as they are stored, where quick_sums() can tell.
[[nodiscard]] std::optional<Sums> compare_stored(ElementType type, std::span<const std::byte> a,
                                                 std::span<const std::byte> b,
                                                 const Tolerance& tolerance);

}  // namespace kvtool
