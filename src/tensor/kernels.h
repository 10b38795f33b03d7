// Fast code for the types that matter, where this processor has it. Every function here gives the
// same bits as the reference (tensor/reference.h).
//
// Why not Google Highway: its version in Debian 12 cuts floats off instead of rounding them, for
// half precision below AVX2 and for bfloat16 everywhere, so that each rounding would be our own
// code anyway; what is left is one set of loops for one instruction set.
#pragma once

#include <cstddef>

#include "kvtool/element_type.h"

namespace kvtool::kernels {

// Whole blocks: `elements` is a multiple of the type's block. Nothing needs to be aligned.
using Decode = void (*)(const std::byte* in, float* out, std::size_t elements);
using Encode = void (*)(const float* in, std::byte* out, std::size_t elements);
using Recode = void (*)(const std::byte* in, std::byte* out, std::size_t elements);

// nullptr: this processor, or this pair of types, has none; the reference does it.
[[nodiscard]] Decode decoder_of(ElementType type);
[[nodiscard]] Encode encoder_of(ElementType type);
[[nodiscard]] Recode recoder_of(ElementType from, ElementType to);

// True when the processor has AVX2 and F16C and the code for it was compiled.
[[nodiscard]] bool has_avx2();

}  // namespace kvtool::kernels
