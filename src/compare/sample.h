// A few matched cells in full, small enough to try explanations on.
#pragma once

#include <vector>

#include "compare/figures.h"

namespace kvtool {

// All tensors of some pairs of cells of one memory, as values.
class Sample {
 public:
  // Takes up to `most` pairs, spread evenly.
  Sample(const Dump& a, const Dump& b, std::uint32_t memory, std::span<const CellPair> pairs,
         std::size_t most);

  [[nodiscard]] std::size_t layers() const { return k_.size(); }
  [[nodiscard]] bool has_v() const { return has_v_; }
  struct Both {
    std::vector<float> a;
    std::vector<float> b;
    std::size_t row = 0;  // elements of one cell
  };
  [[nodiscard]] const Both& k(std::size_t layer) const { return k_[layer]; }
  [[nodiscard]] const Both& v(std::size_t layer) const { return v_[layer]; }

 private:
  std::vector<Both> k_;
  std::vector<Both> v_;
  bool has_v_ = false;
};

// Norm of the difference over the norm of a; infinite for lists of different length, and for
// differences from nothing.
[[nodiscard]] double relative_distance(std::span<const float> a, std::span<const float> b);

}  // namespace kvtool
