// Element types as numbers: the plain reference that everything faster is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kvtool/element_type.h"

namespace kvtool {

// True for the types that llama.cpp lets a cache have, and that dequantize() therefore knows.
[[nodiscard]] bool can_decode(ElementType type);

// The numbers behind whole blocks of `type`: bytes.size() / block_bytes blocks give
// block_elements floats each. A rotated row comes out rotated, as it is stored.
// Throws Error(unsupported) for a type that can_decode() denies, std::logic_error when the sizes
// do not belong together.
void dequantize(ElementType type, std::span<const std::byte> bytes, std::span<float> floats);

// The number that 16 bits stand for: IEEE half precision, and the upper half of a float.
[[nodiscard]] float float_of_half(std::uint16_t bits);
[[nodiscard]] float float_of_bfloat(std::uint16_t bits);

}  // namespace kvtool
