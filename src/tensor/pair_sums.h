// Sums over two runs of numbers, one beside the other: what `diff` knows of values.
#pragma once

#include <span>

namespace kvtool {

// Differences up to absolute + relative * |a| count as none. Neither is negative.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Without meaning where a number is not finite; `a2` or `b2` is not finite then, and only then:
// squares of floats do not overflow a double. The sum of products is not taken: it is half of
// a2 + b2 - difference2.
struct PairSums {
  double difference2 = 0;  // sum of squared differences
  double a2 = 0;           // of squares
  double b2 = 0;
  double max_abs = 0;      // largest difference
  bool over = false;       // a pair is beyond the tolerance
};

namespace reference {

// Both of one length. Pair i is added to the i-th of eight sums (modulo eight), and those in their
// order, so that eight lanes of a processor give the same bits.
[[nodiscard]] PairSums pair_sums(std::span<const float> a, std::span<const float> b,
                                 const Tolerance& tolerance);

}  // namespace reference

namespace kernels {

using SumPairs = PairSums (*)(std::span<const float>, std::span<const float>, const Tolerance&);
// The reference where this processor has no fast code.
[[nodiscard]] SumPairs pair_sums();

}  // namespace kernels
}  // namespace kvtool
