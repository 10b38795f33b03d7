// The AVX2 and F16C set. Only kernels.cpp calls these, after asking the processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/error_sums.h"
#include "tensor/pair_sums.h"

// GCC and Clang compile single functions for another instruction set than the rest.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define KVTOOL_HAS_AVX2_CODE 1
#else
#define KVTOOL_HAS_AVX2_CODE 0
#endif

namespace kvtool::kernels::avx2 {

// Whether the processor converts half precision; older compilers cannot ask for it by name.
bool has_f16c();

void decode_f16(const std::byte* in, float* out, std::size_t elements);
void decode_bf16(const std::byte* in, float* out, std::size_t elements);
void decode_q8_0(const std::byte* in, float* out, std::size_t elements);
void decode_q4_0(const std::byte* in, float* out, std::size_t elements);

void encode_f16(const float* in, std::byte* out, std::size_t elements);
void encode_bf16(const float* in, std::byte* out, std::size_t elements);
void encode_q8_0(const float* in, std::byte* out, std::size_t elements);
void encode_q4_0(const float* in, std::byte* out, std::size_t elements);

void f16_to_q8_0(const std::byte* in, std::byte* out, std::size_t elements);
void f16_to_q4_0(const std::byte* in, std::byte* out, std::size_t elements);
void q8_0_to_f16(const std::byte* in, std::byte* out, std::size_t elements);

inline constexpr std::uint32_t smallest_rotation = 64;  // block of rotate()
void rotate(std::span<float> numbers, std::uint32_t block);

ErrorSums error_sums(std::span<const float> original, std::span<const float> converted);
PairSums pair_sums(std::span<const float> a, std::span<const float> b, const Tolerance& tolerance);
PairSums quick_sums_f16(std::span<const std::byte> a, std::span<const std::byte> b);
PairSums quick_sums_bf16(std::span<const std::byte> a, std::span<const std::byte> b);
PairSums quick_sums_q8_0(std::span<const std::byte> a, std::span<const std::byte> b);
PairSums quick_sums_f32(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace kvtool::kernels::avx2
