#include <bit>

#include "kvtool/codec.h"

namespace kvtool {
namespace {

// A float is sign, 8 bits of exponent, 23 of fraction; a half is sign, 5 and 10.
constexpr std::uint32_t float_infinity = 0x7f800000U;
constexpr std::uint32_t float_quiet = 0x00400000U;  // top bit of the fraction: a NaN that is quiet
constexpr std::uint32_t half_infinity = 0x7c00U;
constexpr std::uint32_t half_quiet = 0x0200U;
constexpr std::uint32_t exponent_shift = 112U;  // difference of the two exponent biases
constexpr std::uint32_t smallest_normal_half = 113U << 23U;  // 2^-14 as a float
constexpr std::uint32_t half_overflow = 143U << 23U;         // 2^16 as a float
constexpr std::uint32_t below_every_half = 102U << 23U;      // 2^-25: at or below it, zero

// value / 2^shift, to the nearest whole number, ties to the even one. 0 < shift < 32.
constexpr std::uint32_t shift_to_nearest_even(std::uint32_t value, std::uint32_t shift) {
  const std::uint32_t whole = value >> shift;
  const std::uint32_t rest = value & ((1U << shift) - 1U);
  const std::uint32_t tie = 1U << (shift - 1U);
  return rest > tie || (rest == tie && (whole & 1U) != 0) ? whole + 1U : whole;
}

// The 15 bits under the sign. Rounding up may carry into the exponent, which is then right.
constexpr std::uint32_t half_magnitude(std::uint32_t magnitude) {
  if (magnitude > float_infinity) return half_infinity | half_quiet | (magnitude >> 13U & 0x3ffU);
  if (magnitude >= half_overflow) return half_infinity;
  if (magnitude >= smallest_normal_half)
    return shift_to_nearest_even(magnitude - (exponent_shift << 23U), 13);
  if (magnitude <= below_every_half) return 0;
  const std::uint32_t fraction = (magnitude & 0x7fffffU) | 0x800000U;  // with the implied one
  return shift_to_nearest_even(fraction, 126U - (magnitude >> 23U));
}

// fraction * 2^-24 as a float: exact, and normal but for zero.
constexpr float subnormal_half(std::uint32_t fraction) {
  return static_cast<float>(fraction) * 0x1p-24F;
}

}  // namespace

float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = bits >> 10U & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const auto magnitude = std::bit_cast<std::uint32_t>(subnormal_half(fraction));
    return std::bit_cast<float>(sign | magnitude);
  }
  if (exponent == 31) {
    const std::uint32_t quiet = fraction == 0 ? 0 : float_quiet;
    return std::bit_cast<float>(sign | float_infinity | quiet | fraction << 13U);
  }
  return std::bit_cast<float>(sign | ((exponent + exponent_shift) << 23U) | fraction << 13U);
}

std::uint16_t half_of_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | half_magnitude(bits & 0x7fffffffU));
}

float float_of_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t bfloat_of_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > float_infinity)
    return static_cast<std::uint16_t>((bits | float_quiet) >> 16U);
  return static_cast<std::uint16_t>(shift_to_nearest_even(bits, 16));
}

}  // namespace kvtool
