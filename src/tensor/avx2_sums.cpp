// Rotation and sums of errors with AVX2.
#include "tensor/avx2.h"

#if KVTOOL_HAS_AVX2_CODE

#include <immintrin.h>

#include <array>
#include <cmath>

#define KVTOOL_AVX2 __attribute__((target("avx2")))
#define KVTOOL_AVX2_INLINE __attribute__((target("avx2"), always_inline)) inline

namespace kvtool::kernels::avx2 {
namespace {

constexpr std::size_t lanes = 8;

// --- rotation ---

constexpr std::size_t group = smallest_rotation / lanes;  // registers that hold 64 numbers

// Adds `low` to `high`, or to its negative in the lanes of `minus`: the same as subtracting.
KVTOOL_AVX2_INLINE __m256 sum_or_difference(__m256 low, __m256 high, __m256 minus) {
  return _mm256_add_ps(low, _mm256_xor_ps(high, minus));
}

// The steps of distance 1, 2 and 4, inside a register.
KVTOOL_AVX2_INLINE __m256 steps_inside(__m256 v) {
  const __m256 odd = _mm256_setr_ps(0, -0.0F, 0, -0.0F, 0, -0.0F, 0, -0.0F);
  const __m256 upper_pairs = _mm256_setr_ps(0, 0, -0.0F, -0.0F, 0, 0, -0.0F, -0.0F);
  const __m256 upper_half = _mm256_setr_ps(0, 0, 0, 0, -0.0F, -0.0F, -0.0F, -0.0F);
  v = sum_or_difference(_mm256_moveldup_ps(v), _mm256_movehdup_ps(v), odd);
  v = sum_or_difference(_mm256_permute_ps(v, 0x44), _mm256_permute_ps(v, 0xee), upper_pairs);
  return sum_or_difference(_mm256_permute2f128_ps(v, v, 0x00), _mm256_permute2f128_ps(v, v, 0x11),
                           upper_half);
}

// 64 numbers: the steps of distance 1 to 32, all in registers.
KVTOOL_AVX2_INLINE void rotate_group(float* numbers, __m256 scale) {
  __m256 v[group];
  for (std::size_t i = 0; i < group; ++i) v[i] = steps_inside(_mm256_loadu_ps(numbers + i * lanes));
  for (std::size_t distance = 1; distance < group; distance *= 2)
    for (std::size_t i = 0; i < group; ++i) {
      if ((i & distance) != 0) continue;
      const __m256 low = v[i];
      v[i] = _mm256_add_ps(low, v[i + distance]);
      v[i + distance] = _mm256_sub_ps(low, v[i + distance]);
    }
  for (std::size_t i = 0; i < group; ++i)
    _mm256_storeu_ps(numbers + i * lanes, _mm256_mul_ps(v[i], scale));
}

// One step of distance 64 or more, through memory.
KVTOOL_AVX2_INLINE void step(float* block, std::size_t size, std::size_t distance, __m256 scale) {
  for (std::size_t start = 0; start < size; start += 2 * distance)
    for (std::size_t i = start; i < start + distance; i += lanes) {
      const __m256 low = _mm256_loadu_ps(block + i);
      const __m256 high = _mm256_loadu_ps(block + i + distance);
      _mm256_storeu_ps(block + i, _mm256_mul_ps(_mm256_add_ps(low, high), scale));
      _mm256_storeu_ps(block + i + distance, _mm256_mul_ps(_mm256_sub_ps(low, high), scale));
    }
}

// --- sums of errors ---

// Eight sums of doubles.
struct Sums {
  __m256d low;
  __m256d high;
};

KVTOOL_AVX2_INLINE void add_square(__m256d& sum, __m256d x) {
  sum = _mm256_add_pd(sum, _mm256_mul_pd(x, x));
}

KVTOOL_AVX2_INLINE __m256d to_doubles(const float* numbers) {
  return _mm256_cvtps_pd(_mm_loadu_ps(numbers));
}

// max_pd gives its second operand where one is NaN: a NaN is passed over.
KVTOOL_AVX2_INLINE __m256d larger(__m256d x, __m256d most) {
  return _mm256_max_pd(_mm256_andnot_pd(_mm256_set1_pd(-0.0), x), most);
}

KVTOOL_AVX2_INLINE double in_order(const Sums& sums) {
  std::array<double, lanes> each;
  _mm256_storeu_pd(each.data(), sums.low);
  _mm256_storeu_pd(each.data() + lanes / 2, sums.high);
  double sum = 0;
  for (std::size_t i = 0; i < lanes; ++i) sum += each[i];
  return sum;
}

KVTOOL_AVX2_INLINE double largest(__m256d most) {
  std::array<double, lanes / 2> each;
  _mm256_storeu_pd(each.data(), most);
  double result = 0;
  for (std::size_t i = 0; i < each.size(); ++i) result = each[i] > result ? each[i] : result;
  return result;
}

}  // namespace

KVTOOL_AVX2 void rotate(std::span<float> numbers, std::uint32_t block) {
  const __m256 one = _mm256_set1_ps(1);
  const __m256 scale = _mm256_set1_ps(1.0F / std::sqrt(static_cast<float>(block)));
  for (std::size_t i = 0; i < numbers.size(); i += smallest_rotation)
    rotate_group(numbers.data() + i, block == smallest_rotation ? scale : one);
  for (std::size_t distance = smallest_rotation; distance < block; distance *= 2)
    for (std::size_t i = 0; i < numbers.size(); i += block)
      step(numbers.data() + i, block, distance, 2 * distance == block ? scale : one);
}

KVTOOL_AVX2 ErrorSums error_sums(std::span<const float> original,
                                 std::span<const float> converted) {
  if (original.size() % lanes != 0) return reference::error_sums(original, converted);
  __m256d most = _mm256_setzero_pd();
  Sums differences{most, most};
  Sums originals{most, most};
  for (std::size_t i = 0; i < original.size(); i += lanes) {
    const __m256d low = to_doubles(&original[i]);
    const __m256d high = to_doubles(&original[i + lanes / 2]);
    const __m256d low_difference = _mm256_sub_pd(to_doubles(&converted[i]), low);
    const __m256d high_difference = _mm256_sub_pd(to_doubles(&converted[i + lanes / 2]), high);
    add_square(originals.low, low);
    add_square(originals.high, high);
    add_square(differences.low, low_difference);
    add_square(differences.high, high_difference);
    most = larger(high_difference, larger(low_difference, most));
  }
  return {largest(most), in_order(differences), in_order(originals)};
}

}  // namespace kvtool::kernels::avx2

#endif
