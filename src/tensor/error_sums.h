// The sums behind ErrorFigures, over two runs of floats of one length.
#pragma once

#include <span>

namespace kvtool {

struct ErrorSums {
  double max_abs = 0;     // largest difference; without meaning where a sum is not finite
  double difference = 0;  // sum of squares; NaN or infinite where a difference is
  double original = 0;    // sum of squares of the originals
};

namespace reference {

// Element i is added to the i-th of eight sums (modulo eight), and those in their order, so that
// eight lanes of a processor give the same bits.
[[nodiscard]] ErrorSums error_sums(std::span<const float> original,
                                   std::span<const float> converted);

}  // namespace reference

namespace kernels {

using SumErrors = ErrorSums (*)(std::span<const float>, std::span<const float>);
// nullptr where this processor has no fast code.
[[nodiscard]] SumErrors error_sums();

}  // namespace kernels
}  // namespace kvtool
