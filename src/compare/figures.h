// Values of matched cells, tensor by tensor.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/match.h"
#include "kvtool/compare.h"
#include "write/gather.h"

namespace kvtool {

// Sums over pairs of values.
struct Sums {
  double difference2 = 0;  // of squared differences
  double a2 = 0;
  double b2 = 0;
  double ab = 0;
  double max_abs = 0;
  std::uint64_t values = 0;
  std::uint64_t over = 0;        // values beyond the tolerance
  std::uint64_t not_finite = 0;  // NaN or Inf on one side only
  void add(const Sums& other);
};

// Adds up one row. Values that are not finite on both sides are left out of the sums.
[[nodiscard]] Sums compare_values(std::span<const float> a, std::span<const float> b,
                                  const CompareOptions& options);

// How far the cells are apart, over all tensors seen so far; one entry a pair.
struct CellSums {
  std::vector<Sums> of_pair;
};

// One tensor of both dumps.
struct TensorPair {
  std::uint32_t memory;
  std::uint32_t layer;
  bool is_v;
};

// The rows of chosen cells of a memory's tensor, as runs for RowReader.
[[nodiscard]] std::vector<TensorRun> runs_of(const Dump& dump, const TensorPair& tensor,
                                             std::span<const CellPlace> places);
// Width of the rotation of these rows; 0 where the dump does not say.
[[nodiscard]] std::uint32_t rotation_of(const Dump& dump, const TensorPair& tensor);
// The tensor's shape, from a stream with cells; nullptr if the memory has none.
[[nodiscard]] const Tensor* shape_of(const Dump& dump, const TensorPair& tensor);

// Figures of one tensor over all pairs. `cells` (may be nullptr) gets each pair's sums added.
[[nodiscard]] TensorComparison compare_tensor(const Dump& a, const Dump& b,
                                              const TensorPair& tensor,
                                              std::span<const CellPair> pairs,
                                              const CompareOptions& options, CellSums* cells);

// Values of chosen cells, row after row, not rotated where the dump says how they are.
[[nodiscard]] std::vector<float> values_of(const Dump& dump, const TensorPair& tensor,
                                           std::span<const CellPlace> places);

}  // namespace kvtool
