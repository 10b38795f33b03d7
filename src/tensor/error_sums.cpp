#include "tensor/error_sums.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "tensor/avx2.h"
#include "tensor/kernels.h"

namespace kvtool {

ErrorSums reference::error_sums(std::span<const float> original,
                                std::span<const float> converted) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> differences{};
  std::array<double, lanes> originals{};
  ErrorSums sums;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const double x = original[i];
    const double difference = double{converted[i]} - x;
    if (std::fabs(difference) > sums.max_abs) sums.max_abs = std::fabs(difference);
    differences[i % lanes] += difference * difference;
    originals[i % lanes] += x * x;
  }
  for (std::size_t i = 0; i < lanes; ++i) {
    sums.difference += differences[i];
    sums.original += originals[i];
  }
  return sums;
}

kernels::SumErrors kernels::error_sums() {
#if KVTOOL_HAS_AVX2_CODE
  if (has_avx2()) return avx2::error_sums;
#endif
  return nullptr;
}

}  // namespace kvtool
