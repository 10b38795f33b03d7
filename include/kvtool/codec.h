// Element types as numbers and back.
//
// quantize() gives the bytes that llama.cpp's own CPU code would have written into a cache (on x86
// with AVX2), bit for bit, so a converted file is what a native one would be. Both directions run
// on the fastest code that this processor has; the results do not depend on which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kvtool/element_type.h"

namespace kvtool {

// True for the types that llama.cpp or ik_llama.cpp lets a cache have, and that dequantize()
// therefore knows.
[[nodiscard]] bool can_decode(ElementType type);
// True for the types that quantize() knows: those of llama.cpp.
[[nodiscard]] bool can_encode(ElementType type);

// Bytes of a row of `elements` numbers. Throws Error(refused) when they are no multiple of the
// type's block, Error(damaged) when the product has no place in 64 bits.
[[nodiscard]] std::uint64_t row_bytes(ElementType type, std::uint64_t elements);

// The numbers behind whole blocks of `type`: bytes.size() / block_bytes blocks give
// block_elements floats each. Where a row begins with a header (q8_KV), both are whole rows of one
// width, and the two sizes tell how many. A rotated row comes out rotated, as it is stored.
// Throws Error(unsupported) for a type that can_decode() denies, std::logic_error when the sizes
// do not belong together.
void dequantize(ElementType type, std::span<const std::byte> bytes, std::span<float> floats);

// The inverse, with the type's loss. Throws Error(unsupported) for a type that can_encode() denies,
// Error(refused) when the floats are no whole blocks, std::logic_error when `bytes` has another
// size than they need. What a block cannot hold (NaN, infinity) gives some level without an error:
// whoever wants to know, compares (ErrorFigures in kvtool/tensor.h counts them).
void quantize(ElementType type, std::span<const float> floats, std::span<std::byte> bytes);

// dequantize() and quantize() in one step, without the floats in between: for rows that need
// nothing else. Equal types copy the bytes. Throws as those two do, and std::logic_error for rows
// with a header, of which the bytes alone do not tell the width.
void recode(ElementType from, std::span<const std::byte> in, ElementType to,
            std::span<std::byte> out);

// The number that 16 bits stand for: IEEE half precision, and the upper half of a float. A NaN
// keeps the bits of its payload that fit; a half that is NaN comes out quiet.
[[nodiscard]] float float_of_half(std::uint16_t bits);
[[nodiscard]] float float_of_bfloat(std::uint16_t bits);

// The nearest 16-bit number, ties to even; too large becomes infinite, subnormals are kept, and
// NaN stays NaN (quiet).
[[nodiscard]] std::uint16_t half_of_float(float value);
[[nodiscard]] std::uint16_t bfloat_of_float(float value);

// What this processor runs: "avx2" or "plain". For benchmarks and reports.
[[nodiscard]] std::string_view kernel_set();

}  // namespace kvtool
