// Element types as numbers and back, block by block, in the plainest way. Everything faster must
// give the same bits (tests/tensor/kernels_test.cpp).
//
// Bit-exact means: what llama.cpp's CPU code writes into a cache on x86 with AVX2. For all types
// but one that is also ggml's own reference; for q8_0 the two differ, see encode_q8_0.
#pragma once

#include <cstddef>
#include <span>

#include "kvtool/element_type.h"

namespace kvtool::reference {

// One block of a type: block_bytes on one side, block_elements floats on the other.
using DecodeBlock = void (*)(std::span<const std::byte> in, std::span<float> out);
using EncodeBlock = void (*)(std::span<const float> in, std::span<std::byte> out);

// nullptr for types that no cache has, and for q8_KV, whose scale is that of a row.
[[nodiscard]] DecodeBlock decoder_of(ElementType type);
[[nodiscard]] EncodeBlock encoder_of(ElementType type);

// True for the types that decode() knows.
[[nodiscard]] bool decodes(ElementType type);

// Whole blocks in a row, or whole rows of q8_KV; the sizes belong together.
void decode(ElementType type, std::span<const std::byte> bytes, std::span<float> floats);
void encode(ElementType type, std::span<const float> floats, std::span<std::byte> bytes);

}  // namespace kvtool::reference
