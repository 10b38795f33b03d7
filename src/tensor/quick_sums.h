// The sums of pair_sums.h at less than half the price, and straight from 16-bit and q8_0 numbers:
// added up as floats for a few numbers, and those sums as doubles.
//
// For numbers that are coarse themselves: a half or bfloat squared is exact as a float, so only
// additions round. Where floats have no room for what comes out, nothing is given, and pair_sums()
// must tell.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "kvtool/element_type.h"
#include "tensor/pair_sums.h"

namespace kvtool {

// Sums of rows of one type, both of one length. Each sum is within 2e-6 of its value, and over many
// rows within 1e-7, as roundings cancel out; `max_abs` is the largest difference rounded to a
// float, and 0 only if all are. Nothing for other types than f16, bf16, q8_0 and f32, for a
// tolerance that depends on the numbers or is too near to `max_abs` for a float to tell, where a number is
// not finite, and where a sum is too small to have been added up in floats (of zeros, too).
[[nodiscard]] std::optional<PairSums> quick_sums(ElementType type, std::span<const std::byte> a,
                                                 std::span<const std::byte> b,
                                                 const Tolerance& tolerance);

namespace reference {

// In pieces of 256 pairs: pair i is added to the i-th of sixteen floats (modulo sixteen), those
// that are eight apart to each other, and these as doubles to the i-th of eight, which are added
// in their order. Sums that are not finite or too small are given as they are; `over` is not set.
[[nodiscard]] PairSums quick_sums_f16(std::span<const std::byte> a, std::span<const std::byte> b);
[[nodiscard]] PairSums quick_sums_bf16(std::span<const std::byte> a, std::span<const std::byte> b);
[[nodiscard]] PairSums quick_sums_q8_0(std::span<const std::byte> a, std::span<const std::byte> b);
[[nodiscard]] PairSums quick_sums_f32(std::span<const std::byte> a, std::span<const std::byte> b);

}  // namespace reference

namespace kernels {

using QuickSums = PairSums (*)(std::span<const std::byte>, std::span<const std::byte>);
// The reference where this processor has no fast code; nullptr for other types.
[[nodiscard]] QuickSums quick_sums_of(ElementType type);

}  // namespace kernels
}  // namespace kvtool
