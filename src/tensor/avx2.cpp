#include "tensor/avx2.h"

#if KVTOOL_HAS_AVX2_CODE

#include <cpuid.h>
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "kvtool/codec.h"

// Every function here that touches 256-bit registers, so that no other code of the program does.
#define KVTOOL_AVX2 __attribute__((target("avx2,f16c")))
#define KVTOOL_AVX2_INLINE __attribute__((target("avx2,f16c"), always_inline)) inline

namespace kvtool::kernels::avx2 {
namespace {

constexpr std::size_t lanes = 8;
constexpr std::size_t block = 32;
constexpr std::size_t block_vectors = block / lanes;
constexpr std::size_t q8_0_bytes = 34;
constexpr std::size_t q4_0_bytes = 18;

// The 32 floats of a block.
struct Block {
  __m256 part[block_vectors];
};

struct FromFloats {
  static constexpr std::size_t element_bytes = 4;
  KVTOOL_AVX2_INLINE static __m256 load(const std::byte* in) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(in));
  }
};

struct FromHalves {
  static constexpr std::size_t element_bytes = 2;
  KVTOOL_AVX2_INLINE static __m256 load(const std::byte* in) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  }
};

struct ToFloats {
  static constexpr std::size_t element_bytes = 4;
  KVTOOL_AVX2_INLINE static void store(std::byte* out, __m256 value) {
    _mm256_storeu_ps(reinterpret_cast<float*>(out), value);
  }
};

struct ToHalves {
  static constexpr std::size_t element_bytes = 2;
  KVTOOL_AVX2_INLINE static void store(std::byte* out, __m256 value) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
  }
};

template <class From>
KVTOOL_AVX2_INLINE Block load_block(const std::byte* in) {
  Block b;
  for (std::size_t i = 0; i < block_vectors; ++i)
    b.part[i] = From::load(in + i * lanes * From::element_bytes);
  return b;
}

KVTOOL_AVX2_INLINE float scale_at(const std::byte* in) {
  std::uint16_t bits;
  std::memcpy(&bits, in, sizeof bits);
  return _cvtsh_ss(bits);
}

KVTOOL_AVX2_INLINE void store_scale(std::byte* out, float scale) {
  const __m128i halves = _mm_cvtps_ph(_mm_set_ss(scale), _MM_FROUND_TO_NEAREST_INT);
  const auto bits = static_cast<std::uint16_t>(_mm_cvtsi128_si32(halves));
  std::memcpy(out, &bits, sizeof bits);
}

KVTOOL_AVX2_INLINE __m256 magnitude(__m256 value) {
  return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), value);
}

// The largest magnitude of the block in every lane. max_ps gives its second operand where one is
// NaN, so a NaN is passed over, as in the reference.
KVTOOL_AVX2_INLINE __m256 largest_magnitude(const Block& b) {
  __m256 most = _mm256_setzero_ps();
  for (const __m256 part : b.part) most = _mm256_max_ps(magnitude(part), most);
  most = _mm256_max_ps(most, _mm256_permute2f128_ps(most, most, 1));
  most = _mm256_max_ps(most, _mm256_permute_ps(most, 0x4e));
  return _mm256_max_ps(most, _mm256_permute_ps(most, 0xb1));
}

// The first element of the largest magnitude, with its sign; 0 for a block of zeros and NaN.
KVTOOL_AVX2_INLINE float furthest_from_zero(const Block& b) {
  const __m256 most = largest_magnitude(b);
  const float distance = _mm256_cvtss_f32(most);
  if (distance == 0) return 0;
  for (const __m256 part : b.part) {
    const int found = _mm256_movemask_ps(_mm256_cmp_ps(magnitude(part), most, _CMP_EQ_OQ));
    if (found == 0) continue;
    const int first = found & -found;
    return (_mm256_movemask_ps(part) & first) != 0 ? -distance : distance;
  }
  return 0;  // not reached: some element has that magnitude
}

// packs_epi32 and packs_epi16 work in each half of a register; this puts the eight groups of four
// bytes back in order.
KVTOOL_AVX2_INLINE __m256i in_order(__m256i packed) {
  return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

KVTOOL_AVX2_INLINE void encode_q8_0_block(const Block& b, std::byte* out) {
  const float furthest = _mm256_cvtss_f32(largest_magnitude(b));
  const __m256 inverse = _mm256_set1_ps(furthest != 0 ? 127.0F / furthest : 0.0F);
  __m256i level[block_vectors];
  for (std::size_t i = 0; i < block_vectors; ++i)
    level[i] = _mm256_cvtps_epi32(_mm256_mul_ps(b.part[i], inverse));  // to nearest, ties to even
  const __m256i words_low = _mm256_packs_epi32(level[0], level[1]);
  const __m256i words_high = _mm256_packs_epi32(level[2], level[3]);
  store_scale(out, furthest / 127.0F);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2),
                      in_order(_mm256_packs_epi16(words_low, words_high)));
}

// Levels 0 to 15. What has no place in 32 bits becomes the least number, of which the lowest byte
// is 0.
KVTOOL_AVX2_INLINE __m256i q4_0_levels(__m256 part, __m256 inverse) {
  const __m256 shifted = _mm256_add_ps(_mm256_mul_ps(part, inverse), _mm256_set1_ps(8.5F));
  const __m256i byte = _mm256_and_si256(_mm256_cvttps_epi32(shifted), _mm256_set1_epi32(0xff));
  return _mm256_min_epi32(byte, _mm256_set1_epi32(15));
}

KVTOOL_AVX2_INLINE void encode_q4_0_block(const Block& b, std::byte* out) {
  const float scale = furthest_from_zero(b) / -8.0F;
  const __m256 inverse = _mm256_set1_ps(scale != 0 ? 1.0F / scale : 0.0F);
  __m256i nibbles[2];
  for (std::size_t i = 0; i < 2; ++i)
    nibbles[i] = _mm256_or_si256(q4_0_levels(b.part[i], inverse),
                                 _mm256_slli_epi32(q4_0_levels(b.part[i + 2], inverse), 4));
  const __m256i words = _mm256_packus_epi32(nibbles[0], nibbles[1]);
  const __m256i bytes = in_order(_mm256_packus_epi16(words, words));  // the 16 bytes twice
  store_scale(out, scale);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2), _mm256_castsi256_si128(bytes));
}

template <class From>
KVTOOL_AVX2_INLINE void to_q8_0(const std::byte* in, std::byte* out, std::size_t elements) {
  for (std::size_t i = 0; i < elements; i += block, out += q8_0_bytes)
    encode_q8_0_block(load_block<From>(in + i * From::element_bytes), out);
}

template <class From>
KVTOOL_AVX2_INLINE void to_q4_0(const std::byte* in, std::byte* out, std::size_t elements) {
  for (std::size_t i = 0; i < elements; i += block, out += q4_0_bytes)
    encode_q4_0_block(load_block<From>(in + i * From::element_bytes), out);
}

template <class To>
KVTOOL_AVX2_INLINE void from_q8_0(const std::byte* in, std::byte* out, std::size_t elements) {
  for (std::size_t i = 0; i < elements; i += block, in += q8_0_bytes) {
    const __m256 scale = _mm256_set1_ps(scale_at(in));
    for (std::size_t j = 0; j < block; j += lanes) {
      const __m128i levels = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + 2 + j));
      const __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(levels));
      To::store(out + (i + j) * To::element_bytes, _mm256_mul_ps(scale, value));
    }
  }
}

KVTOOL_AVX2_INLINE void store_q4_0_half(float* out, __m128i levels, __m256 scale) {
  for (std::size_t j = 0; j < 2; ++j, levels = _mm_srli_si128(levels, 8)) {
    const __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(levels));
    _mm256_storeu_ps(out + j * lanes,
                     _mm256_mul_ps(scale, _mm256_sub_ps(value, _mm256_set1_ps(8))));
  }
}

// Magnitudes of floats beyond infinity: NaN.
KVTOOL_AVX2_INLINE __m256i is_nan(__m256i bits) {
  const __m256i positive = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
  return _mm256_cmpgt_epi32(positive, _mm256_set1_epi32(0x7f800000));
}

// The upper halves of eight floats, to nearest, ties to even, each in 32 bits.
KVTOOL_AVX2_INLINE __m256i bfloats(__m256i bits) {
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  return _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, is_nan(bits)), 16);
}

}  // namespace

bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

KVTOOL_AVX2 void decode_f16(const std::byte* in, float* out, std::size_t elements) {
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes) _mm256_storeu_ps(out + i, FromHalves::load(in + 2 * i));
  for (; i < elements; ++i) out[i] = scale_at(in + 2 * i);
}

KVTOOL_AVX2 void encode_f16(const float* in, std::byte* out, std::size_t elements) {
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes) ToHalves::store(out + 2 * i, _mm256_loadu_ps(in + i));
  for (; i < elements; ++i) store_scale(out + 2 * i, in[i]);
}

KVTOOL_AVX2 void decode_bf16(const std::byte* in, float* out, std::size_t elements) {
  std::size_t i = 0;
  for (; i + lanes <= elements; i += lanes) {
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
    const __m256i bits = _mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16);
    _mm256_storeu_ps(out + i, _mm256_castsi256_ps(bits));
  }
  for (; i < elements; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, in + 2 * i, sizeof bits);
    out[i] = float_of_bfloat(bits);
  }
}

KVTOOL_AVX2 void encode_bf16(const float* in, std::byte* out, std::size_t elements) {
  std::size_t i = 0;
  for (; i + 2 * lanes <= elements; i += 2 * lanes) {
    const auto* from = reinterpret_cast<const __m256i*>(in + i);
    const __m256i words = _mm256_packus_epi32(bfloats(_mm256_loadu_si256(from)),
                                              bfloats(_mm256_loadu_si256(from + 1)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 2 * i),
                        _mm256_permute4x64_epi64(words, 0xd8));
  }
  for (; i < elements; ++i) {
    const std::uint16_t bits = bfloat_of_float(in[i]);
    std::memcpy(out + 2 * i, &bits, sizeof bits);
  }
}

KVTOOL_AVX2 void decode_q8_0(const std::byte* in, float* out, std::size_t elements) {
  from_q8_0<ToFloats>(in, reinterpret_cast<std::byte*>(out), elements);
}

KVTOOL_AVX2 void q8_0_to_f16(const std::byte* in, std::byte* out, std::size_t elements) {
  from_q8_0<ToHalves>(in, out, elements);
}

KVTOOL_AVX2 void decode_q4_0(const std::byte* in, float* out, std::size_t elements) {
  for (std::size_t i = 0; i < elements; i += block, in += q4_0_bytes) {
    const __m256 scale = _mm256_set1_ps(scale_at(in));
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2));
    const __m128i four_bits = _mm_set1_epi8(15);
    store_q4_0_half(out + i, _mm_and_si128(packed, four_bits), scale);
    store_q4_0_half(out + i + block / 2, _mm_and_si128(_mm_srli_epi16(packed, 4), four_bits), scale);
  }
}

KVTOOL_AVX2 void encode_q8_0(const float* in, std::byte* out, std::size_t elements) {
  to_q8_0<FromFloats>(reinterpret_cast<const std::byte*>(in), out, elements);
}

KVTOOL_AVX2 void f16_to_q8_0(const std::byte* in, std::byte* out, std::size_t elements) {
  to_q8_0<FromHalves>(in, out, elements);
}

KVTOOL_AVX2 void encode_q4_0(const float* in, std::byte* out, std::size_t elements) {
  to_q4_0<FromFloats>(reinterpret_cast<const std::byte*>(in), out, elements);
}

KVTOOL_AVX2 void f16_to_q4_0(const std::byte* in, std::byte* out, std::size_t elements) {
  to_q4_0<FromHalves>(in, out, elements);
}

}  // namespace kvtool::kernels::avx2

#endif
