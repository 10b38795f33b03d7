#include "support/made_values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace kvtool::test {
namespace {

// A bijection that scatters neighbouring numbers over all 64 bits.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
  return x ^ x >> 31U;
}

// Bell-shaped with variance 1: four dice thrown once for each of 65536 entries.
const std::array<float, 65536>& bell() {
  static const std::array<float, 65536> table = [] {
    std::array<float, 65536> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      const std::uint64_t dice = mix(i + 1);
      float sum = 0;
      for (unsigned die = 0; die < 4; ++die)
        sum += static_cast<float>(dice >> 16U * die & 0xffffU) / 65536.0F - 0.5F;
      made[i] = sum * std::sqrt(3.0F);
    }
    return made;
  }();
  return table;
}

template <class T>
void put(std::span<std::byte> out, T value) {
  std::memcpy(out.data(), &value, sizeof value);
}

void put_number(ElementType type, float value, std::span<std::byte> out) {
  if (type == ElementType::f32) put(out, value);
  if (type == ElementType::f16) put(out, half_of_float(value));
  if (type == ElementType::bf16)
    put(out, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U));
}

}  // namespace

std::uint16_t half_of_float(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const float size = std::fabs(value);
  if (!(size < 65520.0F)) return sign | (std::isnan(value) ? 0x7e00U : 0x7c00U);
  if (size < 0x1p-14F)  // multiples of the smallest number, up to the first normal one
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::nearbyint(size * 0x1p24F)));
  const auto bits = std::bit_cast<std::uint32_t>(size);
  const std::uint32_t rounded = bits + 0xfffU + (bits >> 13U & 1U);  // ties to even
  return static_cast<std::uint16_t>(sign | ((rounded >> 13U) - (112U << 10U)));
}

std::uint64_t MadeValues::mixed(std::uint64_t cell, std::uint64_t channel) const {
  return mix(seed_ * 0x9e3779b97f4a7c15U + (cell << 20U) + channel);
}

// Between 1/4 and 4 from channel to channel; one in 64 is ten times as large.
float MadeValues::scale(std::uint64_t channel) const {
  const std::uint64_t dice = mix(seed_ + channel * 0x9e3779b97f4a7c15U);
  const auto factor = static_cast<float>(dice & 0xffU) / 64.0F + 0.25F;
  return (dice >> 8U) % 64 == 0 ? 10 * factor : factor;
}

float MadeValues::at(std::uint64_t cell, std::uint64_t channel) const {
  return bell()[mixed(cell, channel) & 0xffffU] * scale(channel);
}

// A block of a quantized type begins with its half-precision scale; all else is taken as it comes,
// except the half-precision offset of the types that have one.
void MadeValues::block(ElementType type, std::uint64_t cell, std::uint64_t channel,
                       std::span<std::byte> out) const {
  for (std::size_t at = 0; at < out.size(); ++at)
    out[at] = static_cast<std::byte>(mixed(cell, channel + at / 8) >> at % 8 * 8);
  put(out, half_of_float(std::fabs(at(cell, channel)) / 16.0F));
  if (type == ElementType::q4_1 || type == ElementType::q5_1)
    put(out.subspan(2), half_of_float(-scale(channel)));
}

void MadeValues::row(ElementType type, std::uint64_t cell, std::span<std::byte> out) const {
  const ElementTypeInfo& shape = info(type);
  for (std::uint64_t channel = 0; !out.empty(); channel += shape.block_elements) {
    if (shape.block_elements == 1)
      put_number(type, at(cell, channel), out);
    else
      block(type, cell, channel, out.first(shape.block_bytes));
    out = out.subspan(shape.block_bytes);
  }
}

void MadeValues::channel(ElementType type, std::uint64_t channel, std::uint64_t first,
                         std::span<std::byte> out) const {
  const std::size_t element = info(type).block_bytes;
  for (std::size_t i = 0; i < out.size() / element; ++i)
    put_number(type, at(first + i, channel), out.subspan(i * element));
}

}  // namespace kvtool::test
