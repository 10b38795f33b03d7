// Sums over pairs of numbers with AVX2 and fused multiplication.
//
// The product of two floats is exact as a double, so that fusing it with the addition rounds as
// often as the reference does. The square of a difference is not, and is not fused.
#include "tensor/avx2.h"

#if KVTOOL_HAS_AVX2_CODE

#include <immintrin.h>

#include <array>

#define KVTOOL_AVX2 __attribute__((target("avx2,fma")))
#define KVTOOL_AVX2_INLINE __attribute__((target("avx2,fma"), always_inline)) inline

namespace kvtool::kernels::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t half = lanes / 2;

struct Limits {
  __m256d absolute;
  __m256d relative;
};

// Four of the eight lanes.
struct HalfSums {
  __m256d difference2;
  __m256d a2;
  __m256d b2;
  __m256d most;
  __m256d over;  // all bits set where a pair was beyond the limit
};

KVTOOL_AVX2_INLINE HalfSums no_sums() {
  const __m256d zero = _mm256_setzero_pd();
  return {zero, zero, zero, zero, zero};
}

KVTOOL_AVX2_INLINE __m256d magnitude(__m256d x) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
}

KVTOOL_AVX2_INLINE void note_over(HalfSums& sums, __m256d difference, __m256d x,
                                  const Limits& limits) {
  const __m256d limit =
      _mm256_add_pd(limits.absolute, _mm256_mul_pd(limits.relative, magnitude(x)));
  sums.over = _mm256_or_pd(sums.over, _mm256_cmp_pd(difference, limit, _CMP_GT_OQ));
}

// max_pd gives its second operand where one is NaN: a NaN is passed over, as in the reference.
KVTOOL_AVX2_INLINE __m256d add(HalfSums& sums, __m256d x, __m256d y) {
  const __m256d difference = magnitude(_mm256_sub_pd(x, y));
  sums.difference2 = _mm256_add_pd(sums.difference2, _mm256_mul_pd(difference, difference));
  sums.a2 = _mm256_fmadd_pd(x, x, sums.a2);
  sums.b2 = _mm256_fmadd_pd(y, y, sums.b2);
  sums.most = _mm256_max_pd(difference, sums.most);
  return difference;
}

KVTOOL_AVX2_INLINE __m256d to_doubles(const float* numbers) {
  return _mm256_cvtps_pd(_mm_loadu_ps(numbers));
}

KVTOOL_AVX2_INLINE double in_order(__m256d low, __m256d high) {
  std::array<double, lanes> each;
  _mm256_storeu_pd(each.data(), low);
  _mm256_storeu_pd(each.data() + half, high);
  double sum = 0;
  for (std::size_t i = 0; i < lanes; ++i) sum += each[i];
  return sum;
}

KVTOOL_AVX2_INLINE double largest(__m256d most) {
  std::array<double, half> each;
  _mm256_storeu_pd(each.data(), most);
  double result = 0;
  for (std::size_t i = 0; i < half; ++i) result = each[i] > result ? each[i] : result;
  return result;
}

KVTOOL_AVX2_INLINE PairSums together(const HalfSums& low, const HalfSums& high) {
  PairSums sums;
  sums.difference2 = in_order(low.difference2, high.difference2);
  sums.a2 = in_order(low.a2, high.a2);
  sums.b2 = in_order(low.b2, high.b2);
  sums.max_abs = largest(_mm256_max_pd(low.most, high.most));
  sums.over = _mm256_movemask_pd(_mm256_or_pd(low.over, high.over)) != 0;
  return sums;
}

// Up to seven pairs and zeros behind them, which add nothing.
struct Padded {
  alignas(32) std::array<float, lanes> numbers{};
  explicit Padded(std::span<const float> rest) {
    for (std::size_t i = 0; i < rest.size(); ++i) numbers[i] = rest[i];
  }
};

// Eight pairs. Only a limit that depends on the number costs something.
template <bool relative>
KVTOOL_AVX2_INLINE void add_eight(HalfSums& low, HalfSums& high, const float* a, const float* b,
                                  const Limits& limits) {
  const __m256d x = to_doubles(a);
  const __m256d z = to_doubles(a + half);
  const __m256d of_low = add(low, x, to_doubles(b));
  const __m256d of_high = add(high, z, to_doubles(b + half));
  if constexpr (relative) {
    note_over(low, of_low, x, limits);
    note_over(high, of_high, z, limits);
  }
}

template <bool relative>
KVTOOL_AVX2_INLINE PairSums sums_of(std::span<const float> a, std::span<const float> b,
                                    const Limits& limits) {
  HalfSums low = no_sums();
  HalfSums high = no_sums();
  const std::size_t whole = a.size() / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes)
    add_eight<relative>(low, high, &a[i], &b[i], limits);
  if (whole < a.size()) {
    const Padded x(a.subspan(whole));
    const Padded y(b.subspan(whole));
    add_eight<relative>(low, high, x.numbers.data(), y.numbers.data(), limits);
  }
  return together(low, high);
}

}  // namespace

KVTOOL_AVX2 PairSums pair_sums(std::span<const float> a, std::span<const float> b,
                               const Tolerance& tolerance) {
  const Limits limits{_mm256_set1_pd(tolerance.absolute), _mm256_set1_pd(tolerance.relative)};
  if (tolerance.relative != 0) return sums_of<true>(a, b, limits);
  PairSums sums = sums_of<false>(a, b, limits);
  sums.over = sums.max_abs > tolerance.absolute;
  return sums;
}

}  // namespace kvtool::kernels::avx2

#endif
