// The sizes of the model behind a bare state of before August 2024: they are told from outside, and
// what is left open follows from the size of the file or not at all.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "format/header_struct.h"
#include "kvtool/element_type.h"
#include "kvtool/open.h"

namespace kvtool::format {

// The facts that a header struct would have told, as far as the shape says them.
[[nodiscard]] HeaderFacts facts_of(const BareShape& shape);

// Finds what a shape leaves open from the bytes of one cell in all layers.
class ShapeSolver {
 public:
  ShapeSolver(std::optional<BareShape> shape, std::optional<std::uint64_t> cell_bytes);
  // True unless number of layers and widths are all said.
  [[nodiscard]] bool is_needed() const;
  // The shape with rows of these types; nothing where none has so many bytes, or too much is open.
  [[nodiscard]] std::optional<HeaderFacts> solve(const std::pair<ElementType, ElementType>& types) const;

 private:
  [[nodiscard]] std::optional<HeaderFacts> with_widths(
      const std::pair<ElementType, ElementType>& types) const;
  [[nodiscard]] std::optional<HeaderFacts> with_layers(
      const std::pair<ElementType, ElementType>& types) const;

  BareShape shape_;
  std::optional<std::uint64_t> cell_bytes_;
};

// Numbers of layers with the width of their K. Throws Error(refused) unless there is one at most.
void require_one_shape(const std::set<std::pair<std::size_t, std::uint64_t>>& shapes);

}  // namespace kvtool::format
