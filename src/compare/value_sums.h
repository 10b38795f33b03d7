// Sums over the values of a row in two dumps.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/pair_sums.h"

namespace kvtool {

// Values that are not finite on both sides are counted and left out of the sums.
struct Sums : PairSums {
  std::uint64_t values = 0;
  std::uint64_t not_finite = 0;  // NaN or Inf on one side only, or another one
  void add(const Sums& other);
};

// Both of one length.
[[nodiscard]] Sums compare_values(std::span<const float> a, std::span<const float> b,
                                  const Tolerance& tolerance);

}  // namespace kvtool
