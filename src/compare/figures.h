// Values of matched cells, tensor by tensor.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compare/match.h"
#include "compare/value_sums.h"
#include "kvtool/compare.h"
#include "write/gather.h"

namespace kvtool {

// How far cells are apart, over one tensor or several; one entry a pair.
struct CellSums {
  std::vector<Sums> of_pair;  // may be empty where all cells are equal
  void add(const CellSums& other);
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

// Figures of one tensor over all pairs, and of each pair in `cells`, which is empty if all have equal
// bytes.
[[nodiscard]] TensorComparison compare_tensor(const Dump& a, const Dump& b,
                                              const TensorPair& tensor,
                                              std::span<const CellPair> pairs,
                                              const CompareOptions& options, CellSums& cells);

// Values of chosen cells, row after row, not rotated where the dump says how they are.
[[nodiscard]] std::vector<float> values_of(const Dump& dump, const TensorPair& tensor,
                                           std::span<const CellPlace> places);

}  // namespace kvtool
