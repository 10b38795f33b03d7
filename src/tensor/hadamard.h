// The fast Walsh-Hadamard transform behind rotate(). `block` is a power of two that divides the
// number of floats.
#pragma once

#include <cstdint>
#include <span>

namespace kvtool {

using Rotate = void (*)(std::span<float> numbers, std::uint32_t block);

namespace reference {

void rotate(std::span<float> numbers, std::uint32_t block);

}  // namespace reference

namespace kernels {

// Fast code for blocks of that size, or nullptr; gives the same bits as the reference.
[[nodiscard]] Rotate rotation(std::uint32_t block);

}  // namespace kernels
}  // namespace kvtool
