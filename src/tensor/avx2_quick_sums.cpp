// Sums over pairs of numbers with AVX2, in the order of the reference (quick_sums.h).
#include "tensor/avx2.h"

#if KVTOOL_HAS_AVX2_CODE

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#define KVTOOL_AVX2 __attribute__((target("avx2,f16c")))
#define KVTOOL_AVX2_INLINE __attribute__((target("avx2,f16c"), always_inline)) inline

namespace kvtool::kernels::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t piece = 256;

KVTOOL_AVX2_INLINE __m128i words_at(const std::byte* in) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
}

// Sixteen numbers.
struct Numbers {
  __m256 low;
  __m256 high;
};

// How numbers are stored: load() gives sixteen of a block, from element `first` on.
struct FromHalves {
  static constexpr std::size_t block_elements = 16;
  static constexpr std::size_t block_bytes = 32;
  KVTOOL_AVX2_INLINE static Numbers load(const std::byte* block, std::size_t) {
    return {_mm256_cvtph_ps(words_at(block)), _mm256_cvtph_ps(words_at(block + 16))};
  }
};

KVTOOL_AVX2_INLINE __m256 bfloats_at(const std::byte* in) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words_at(in)), 16));
}

struct FromBfloats {
  static constexpr std::size_t block_elements = 16;
  static constexpr std::size_t block_bytes = 32;
  KVTOOL_AVX2_INLINE static Numbers load(const std::byte* block, std::size_t) {
    return {bfloats_at(block), bfloats_at(block + 16)};
  }
};

struct FromFloats {
  static constexpr std::size_t block_elements = 16;
  static constexpr std::size_t block_bytes = 64;
  KVTOOL_AVX2_INLINE static Numbers load(const std::byte* block, std::size_t) {
    const auto* floats = reinterpret_cast<const float*>(block);
    return {_mm256_loadu_ps(floats), _mm256_loadu_ps(floats + lanes)};
  }
};

KVTOOL_AVX2_INLINE __m256 levels_at(const std::byte* in, __m256 scale) {
  const __m128i levels = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
  return _mm256_mul_ps(scale, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(levels)));
}

struct FromQ8_0 {
  static constexpr std::size_t block_elements = 32;
  static constexpr std::size_t block_bytes = 34;
  KVTOOL_AVX2_INLINE static Numbers load(const std::byte* block, std::size_t first) {
    std::uint16_t bits;
    std::memcpy(&bits, block, sizeof bits);
    const __m256 scale = _mm256_set1_ps(_cvtsh_ss(bits));
    const std::byte* levels = block + sizeof bits + first;
    return {levels_at(levels, scale), levels_at(levels + lanes, scale)};
  }
};

// Eight of the sixteen lanes.
struct FloatSums {
  __m256 difference2;
  __m256 a2;
  __m256 b2;
};

struct DoubleSum {
  __m256d low;
  __m256d high;
};

struct DoubleSums {
  DoubleSum difference2;
  DoubleSum a2;
  DoubleSum b2;
};

KVTOOL_AVX2_INLINE FloatSums no_float_sums() {
  const __m256 zero = _mm256_setzero_ps();
  return {zero, zero, zero};
}

KVTOOL_AVX2_INLINE DoubleSums no_double_sums() {
  const __m256d zero = _mm256_setzero_pd();
  return {{zero, zero}, {zero, zero}, {zero, zero}};
}

KVTOOL_AVX2_INLINE __m256 plus_square(__m256 sum, __m256 number) {
  return _mm256_add_ps(sum, _mm256_mul_ps(number, number));
}

// max_ps gives its second operand where one is NaN: a NaN is passed over, as in the reference.
KVTOOL_AVX2_INLINE void add(FloatSums& sums, __m256& most, __m256 x, __m256 y) {
  const __m256 difference = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), _mm256_sub_ps(x, y));
  sums.difference2 = plus_square(sums.difference2, difference);
  sums.a2 = plus_square(sums.a2, x);
  sums.b2 = plus_square(sums.b2, y);
  most = _mm256_max_ps(difference, most);
}

KVTOOL_AVX2_INLINE void add(DoubleSum& sum, __m256 low_lanes, __m256 high_lanes) {
  const __m256 both = _mm256_add_ps(low_lanes, high_lanes);
  sum.low = _mm256_add_pd(sum.low, _mm256_cvtps_pd(_mm256_castps256_ps128(both)));
  sum.high = _mm256_add_pd(sum.high, _mm256_cvtps_pd(_mm256_extractf128_ps(both, 1)));
}

KVTOOL_AVX2_INLINE void add(DoubleSums& sums, const FloatSums& low, const FloatSums& high) {
  add(sums.difference2, low.difference2, high.difference2);
  add(sums.a2, low.a2, high.a2);
  add(sums.b2, low.b2, high.b2);
}

// Whole blocks, not more than a piece.
template <class From>
KVTOOL_AVX2_INLINE void add_piece(DoubleSums& sums, __m256& most, std::span<const std::byte> a,
                                  std::span<const std::byte> b) {
  FloatSums low = no_float_sums();
  FloatSums high = no_float_sums();
  for (std::size_t at = 0; at < a.size(); at += From::block_bytes)
    for (std::size_t first = 0; first < From::block_elements; first += 2 * lanes) {
      const Numbers x = From::load(a.data() + at, first);
      const Numbers y = From::load(b.data() + at, first);
      add(low, most, x.low, y.low);
      add(high, most, x.high, y.high);
    }
  add(sums, low, high);
}

KVTOOL_AVX2_INLINE double in_order(const DoubleSum& sum) {
  std::array<double, lanes> each;
  _mm256_storeu_pd(each.data(), sum.low);
  _mm256_storeu_pd(each.data() + lanes / 2, sum.high);
  double total = 0;
  for (std::size_t i = 0; i < lanes; ++i) total += each[i];
  return total;
}

KVTOOL_AVX2_INLINE double largest(__m256 most) {
  std::array<float, lanes> each;
  _mm256_storeu_ps(each.data(), most);
  float result = 0;
  for (std::size_t i = 0; i < lanes; ++i) result = each[i] > result ? each[i] : result;
  return static_cast<double>(result);
}

template <class From>
constexpr std::size_t piece_bytes = piece / From::block_elements * From::block_bytes;

// The last piece of a row, and zeros up to a whole block, which add nothing.
template <class From>
struct Padded {
  alignas(32) std::array<std::byte, piece_bytes<From>> bytes{};
  std::size_t size;
  explicit Padded(std::span<const std::byte> rest) {
    std::copy(rest.begin(), rest.end(), bytes.begin());
    size = (rest.size() + From::block_bytes - 1) / From::block_bytes * From::block_bytes;
  }
  [[nodiscard]] std::span<const std::byte> padded() const { return std::span(bytes).first(size); }
};

template <class From>
KVTOOL_AVX2_INLINE PairSums sums_of(std::span<const std::byte> a, std::span<const std::byte> b) {
  constexpr std::size_t step = piece_bytes<From>;
  DoubleSums sums = no_double_sums();
  __m256 most = _mm256_setzero_ps();
  std::size_t at = 0;
  for (; at + step <= a.size(); at += step)
    add_piece<From>(sums, most, a.subspan(at, step), b.subspan(at, step));
  if (at < a.size())
    add_piece<From>(sums, most, Padded<From>(a.subspan(at)).padded(),
                    Padded<From>(b.subspan(at)).padded());
  return {in_order(sums.difference2), in_order(sums.a2), in_order(sums.b2), largest(most), false};
}

}  // namespace

KVTOOL_AVX2 PairSums quick_sums_f16(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of<FromHalves>(a, b);
}

KVTOOL_AVX2 PairSums quick_sums_bf16(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of<FromBfloats>(a, b);
}

KVTOOL_AVX2 PairSums quick_sums_q8_0(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of<FromQ8_0>(a, b);
}

KVTOOL_AVX2 PairSums quick_sums_f32(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of<FromFloats>(a, b);
}

}  // namespace kvtool::kernels::avx2

#endif
