#include "tensor/hadamard.h"

#include <cmath>
#include <cstddef>

#include "tensor/avx2.h"
#include "tensor/kernels.h"

namespace kvtool {
namespace {

// One step: every pair at this distance becomes its sum and difference.
void sums_and_differences(std::span<float> block, std::size_t distance) {
  for (std::size_t start = 0; start < block.size(); start += 2 * distance) {
    float* low = block.data() + start;
    float* high = low + distance;
    for (std::size_t i = 0; i < distance; ++i) {
      const float sum = low[i] + high[i];
      high[i] = low[i] - high[i];
      low[i] = sum;
    }
  }
}

void rotate_block(std::span<float> block, float scale) {
  for (std::size_t distance = 1; distance < block.size(); distance *= 2)
    sums_and_differences(block, distance);
  for (float& x : block) x *= scale;
}

}  // namespace

void reference::rotate(std::span<float> numbers, std::uint32_t block) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(block));
  for (std::size_t i = 0; i < numbers.size(); i += block)
    rotate_block(numbers.subspan(i, block), scale);
}

Rotate kernels::rotation([[maybe_unused]] std::uint32_t block) {
#if KVTOOL_HAS_AVX2_CODE
  if (has_avx2() && block >= avx2::smallest_rotation) return avx2::rotate;
#endif
  return nullptr;
}

}  // namespace kvtool
