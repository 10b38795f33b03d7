// Rows of K on their way to another position: decoded, freed of their rotation, turned, rotated and
// encoded again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvtool/rope.h"
#include "kvtool/tensor.h"

namespace kvtool {

class RowTurner {
 public:
  // Rows of `width` numbers. Throws Error(refused) when they are no whole heads or no whole blocks.
  RowTurner(RowForm from, RowForm to, std::size_t width, const Rope& rope, std::int64_t positions);

  // Whole rows; `figures`, if given, gathers what the encoding loses.
  void convert(std::span<const std::byte> in, std::span<std::byte> out, ErrorFigures* figures);

 private:
  void convert_batch(std::span<const std::byte> in, std::span<std::byte> out, ErrorFigures* figures);

  RowForm from_;
  RowForm to_;
  std::size_t width_;
  RopeTurn turn_;
  std::vector<float> numbers_;  // a batch of rows on its way
  std::vector<float> result_;   // what its encoded form stands for
};

}  // namespace kvtool
