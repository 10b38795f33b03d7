#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kvtool/codec.h"
#include "tensor/levels.h"
#include "tensor/reference.h"

namespace kvtool::reference {
namespace {

constexpr std::size_t block = 32;  // elements of a block in every quantized type here
constexpr std::size_t half = block / 2;

using Floats = std::span<const float>;
using Bytes = std::span<std::byte>;

template <class T>
void store(Bytes bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

void store_half(Bytes bytes, std::size_t offset, float value) {
  store(bytes, offset, half_of_float(value));
}

float inverse_or_zero(float scale) { return scale != 0 ? 1.0F / scale : 0.0F; }

// A float as a whole number the way the processor of an x86 machine does it: what has no place in
// 32 bits, and NaN, become the least number. `value` is whole already, or cut towards zero here.
std::int32_t to_int32(float value) {
  const bool fits = value >= -0x1p31F && value < 0x1p31F;
  return fits ? static_cast<std::int32_t>(value) : INT32_MIN;
}

// ... and of that its lowest byte, which is 0 for what has no place.
unsigned low_byte(float value) { return static_cast<unsigned>(to_int32(value)) & 0xffU; }

// The element that is furthest from zero, with its sign; of several the first. NaN is passed over.
float furthest_from_zero(Floats in) {
  float furthest = 0;
  for (const float x : in)
    if (std::fabs(x) > std::fabs(furthest)) furthest = x;
  return furthest;
}

struct Range {
  float least;
  float greatest;
};

// NaN is passed over.
Range range_of(Floats in) {
  Range range{3.402823466e38F, -3.402823466e38F};
  for (const float x : in) {
    if (x < range.least) range.least = x;
    if (x > range.greatest) range.greatest = x;
  }
  return range;
}

// Levels of 0 to 15 as four bits each: elements 0 to 15 in the low halves, 16 to 31 in the high.
template <class Levels>
void store_nibbles(Bytes bytes, std::size_t offset, const Levels& levels) {
  for (std::size_t i = 0; i < half; ++i)
    bytes[offset + i] = static_cast<std::byte>((levels[i] & 0xfU) | (levels[half + i] & 0xfU) << 4U);
}

// The fifth bits of levels of 0 to 31, bit i for element i.
template <class Levels>
std::uint32_t fifth_bits(const Levels& levels) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < block; ++i) bits |= (levels[i] >> 4U & 1U) << i;
  return bits;
}

using Levels = std::array<unsigned, block>;

// Levels around `zero`, the highest being `top`: the scale is such that the furthest element lands
// on level 0.
Levels levels_around(Floats in, float inverse, float zero, unsigned top) {
  Levels levels{};
  for (std::size_t i = 0; i < block; ++i)
    levels[i] = std::min(low_byte(in[i] * inverse + (zero + 0.5F)), top);
  return levels;
}

Levels levels_above(Floats in, float inverse, float least, unsigned top) {
  Levels levels{};
  for (std::size_t i = 0; i < block; ++i)
    levels[i] = std::min(low_byte((in[i] - least) * inverse + 0.5F), top);
  return levels;
}

void encode_f32(Floats in, Bytes out) { store(out, 0, in[0]); }
void encode_f16(Floats in, Bytes out) { store(out, 0, half_of_float(in[0])); }
void encode_bf16(Floats in, Bytes out) { store(out, 0, bfloat_of_float(in[0])); }

// ggml's reference multiplies by 1 / (furthest / 127) and rounds ties away from zero. Its AVX2 code,
// which is what writes caches, multiplies by 127 / furthest and rounds ties to even; so do we.
void encode_q8_0(Floats in, Bytes out) {
  const float furthest = std::fabs(furthest_from_zero(in));
  const float inverse = furthest != 0 ? 127.0F / furthest : 0.0F;
  store_half(out, 0, furthest / 127.0F);
  for (std::size_t i = 0; i < block; ++i) {
    const std::int32_t level = to_int32(std::nearbyint(in[i] * inverse));
    store(out, 2 + i, static_cast<std::int8_t>(std::clamp(level, -128, 127)));
  }
}

void encode_q4_0(Floats in, Bytes out) {
  const float scale = furthest_from_zero(in) / -8.0F;
  store_half(out, 0, scale);
  store_nibbles(out, 2, levels_around(in, inverse_or_zero(scale), 8, 15));
}

void encode_q4_1(Floats in, Bytes out) {
  const Range range = range_of(in);
  const float scale = (range.greatest - range.least) / 15.0F;
  store_half(out, 0, scale);
  store_half(out, 2, range.least);
  store_nibbles(out, 4, levels_above(in, inverse_or_zero(scale), range.least, 15));
}

void encode_q5_0(Floats in, Bytes out) {
  const float scale = furthest_from_zero(in) / -16.0F;
  const Levels levels = levels_around(in, inverse_or_zero(scale), 16, 31);
  store_half(out, 0, scale);
  store(out, 2, fifth_bits(levels));
  store_nibbles(out, 6, levels);
}

void encode_q5_1(Floats in, Bytes out) {
  const Range range = range_of(in);
  const float scale = (range.greatest - range.least) / 31.0F;
  const Levels levels = levels_above(in, inverse_or_zero(scale), range.least, 31);
  store_half(out, 0, scale);
  store_half(out, 2, range.least);
  store(out, 4, fifth_bits(levels));
  store_nibbles(out, 8, levels);
}

// The nearest of the uneven levels; of two equally near ones the higher. Counts the levels that are
// not above instead of searching: a search has branches that the processor cannot foresee.
unsigned nearest_level(float value) {
  unsigned above = 1;
  for (std::size_t level = 1; level < 15; ++level) above += value < uneven_levels[level] ? 0U : 1U;
  return value - uneven_levels[above - 1] < uneven_levels[above] - value ? above - 1 : above;
}

// The scale that fits best once every element has its level: least squares weighted with the
// squares of the elements. The sums run in this order, in floats, as ggml's do.
float fitted_scale(Floats in, const Levels& levels) {
  float product = 0;
  float square = 0;
  for (std::size_t i = 0; i < block; ++i) {
    const float level = uneven_levels[levels[i]];
    const float weight = in[i] * in[i];
    product += weight * level * in[i];
    square += weight * level * level;
  }
  return product / square;
}

// A block below 1e-15 everywhere gets scale 0. ggml then leaves whatever levels it had in memory;
// ours are 0, which stand for the same numbers.
void encode_iq4_nl(Floats in, Bytes out) {
  const float furthest = furthest_from_zero(in);
  Levels levels{};
  float scale = 0;
  if (!(std::fabs(furthest) < 1e-15F)) {
    const float inverse = 1.0F / (furthest / uneven_levels[0]);
    for (std::size_t i = 0; i < block; ++i) levels[i] = nearest_level(inverse * in[i]);
    scale = fitted_scale(in, levels);
  }
  store_half(out, 0, scale);
  store_nibbles(out, 2, levels);
}

}  // namespace

EncodeBlock encoder_of(ElementType type) {
  switch (type) {
    case ElementType::f32: return encode_f32;
    case ElementType::f16: return encode_f16;
    case ElementType::bf16: return encode_bf16;
    case ElementType::q8_0: return encode_q8_0;
    case ElementType::q4_0: return encode_q4_0;
    case ElementType::q4_1: return encode_q4_1;
    case ElementType::q5_0: return encode_q5_0;
    case ElementType::q5_1: return encode_q5_1;
    case ElementType::iq4_nl: return encode_iq4_nl;
    case ElementType::q6_0:
    case ElementType::q8_KV: return nullptr;  // how ik_llama.cpp rounds is not known here
  }
  return nullptr;
}

void encode(ElementType type, std::span<const float> floats, std::span<std::byte> bytes) {
  const EncodeBlock encode_block = encoder_of(type);
  const ElementTypeInfo& t = info(type);
  for (; !floats.empty(); floats = floats.subspan(t.block_elements)) {
    encode_block(floats.first(t.block_elements), bytes.first(t.block_bytes));
    bytes = bytes.subspan(t.block_bytes);
  }
}

}  // namespace kvtool::reference
