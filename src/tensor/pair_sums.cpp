#include "tensor/pair_sums.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "tensor/avx2.h"
#include "tensor/kernels.h"

namespace kvtool {
namespace {

constexpr std::size_t lanes = 8;
using Lanes = std::array<double, lanes>;

double in_order(const Lanes& sums) {
  double sum = 0;
  for (const double lane : sums) sum += lane;
  return sum;
}

}  // namespace

PairSums reference::pair_sums(std::span<const float> a, std::span<const float> b,
                              const Tolerance& tolerance) {
  Lanes difference2{}, a2{}, b2{};
  PairSums sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i];
    const double y = b[i];
    const double difference = std::fabs(x - y);
    difference2[i % lanes] += difference * difference;
    a2[i % lanes] += x * x;
    b2[i % lanes] += y * y;
    if (difference > sums.max_abs) sums.max_abs = difference;
    if (difference > tolerance.absolute + tolerance.relative * std::fabs(x)) sums.over = true;
  }
  sums.difference2 = in_order(difference2);
  sums.a2 = in_order(a2);
  sums.b2 = in_order(b2);
  return sums;
}

kernels::SumPairs kernels::pair_sums() {
#if KVTOOL_HAS_AVX2_CODE
  static const bool has_fma = __builtin_cpu_supports("fma") != 0;
  if (has_avx2() && has_fma) return avx2::pair_sums;
#endif
  return reference::pair_sums;
}

}  // namespace kvtool
