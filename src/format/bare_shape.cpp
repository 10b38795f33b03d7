#include "format/bare_shape.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "format/part.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

using Types = std::pair<ElementType, ElementType>;
using Widths = std::vector<std::uint64_t>;

// One number stands for all layers.
Widths spread(const Widths& widths, std::uint32_t layers) {
  return widths.size() == 1 ? Widths(layers, widths.front()) : widths;
}

bool is_whole(ElementType type, std::uint64_t width) {
  return width % info(type).block_elements == 0;
}

}  // namespace

HeaderFacts facts_of(const BareShape& shape) {
  HeaderFacts facts;
  facts.recurrent = shape.recurrent;
  if (shape.layers == 0 || shape.k_width.empty()) return facts;
  facts.k_width = spread(shape.k_width, shape.layers);
  facts.v_width = spread(shape.v_width, shape.layers);
  return facts;
}

ShapeSolver::ShapeSolver(std::optional<BareShape> shape, std::optional<std::uint64_t> cell_bytes)
    : shape_(std::move(shape).value_or(BareShape{})), cell_bytes_(cell_bytes) {}

bool ShapeSolver::is_needed() const { return shape_.layers == 0 || shape_.k_width.empty(); }

std::optional<HeaderFacts> ShapeSolver::solve(const Types& types) const {
  if (!cell_bytes_ || *cell_bytes_ == 0) return std::nullopt;
  if (shape_.layers == 0) return with_widths(types);
  return with_layers(types);
}

std::optional<HeaderFacts> ShapeSolver::with_widths(const Types& types) const {
  if (shape_.k_width.size() != 1) return std::nullopt;
  const std::uint64_t k = shape_.k_width.front();
  const std::uint64_t v = shape_.v_width.front();
  if (!is_whole(types.first, k) || !is_whole(types.second, v)) return std::nullopt;
  const std::uint64_t bytes = row_bytes(types.first, k) + row_bytes(types.second, v);
  if (*cell_bytes_ % bytes != 0 || *cell_bytes_ / bytes > most_layers) return std::nullopt;
  BareShape solved = shape_;
  solved.layers = static_cast<std::uint32_t>(*cell_bytes_ / bytes);
  return facts_of(solved);
}

// Bytes of K and V of one layer = width x (bytes of an element of K + of V).
std::optional<HeaderFacts> ShapeSolver::with_layers(const Types& types) const {
  if (*cell_bytes_ % shape_.layers != 0) return std::nullopt;
  const ElementTypeInfo& k = info(types.first);
  const ElementTypeInfo& v = info(types.second);
  const std::uint64_t one = std::uint64_t{k.block_bytes} * v.block_elements +
                            std::uint64_t{v.block_bytes} * k.block_elements;
  const std::uint64_t all = *cell_bytes_ / shape_.layers * k.block_elements * v.block_elements;
  const std::uint64_t width = all / one;
  if (all % one != 0 || !is_whole(types.first, width) || !is_whole(types.second, width))
    return std::nullopt;
  BareShape solved = shape_;
  solved.k_width = solved.v_width = {width};
  return facts_of(solved);
}

void require_one_shape(const std::set<std::pair<std::size_t, std::uint64_t>>& shapes) {
  if (shapes.size() < 2) return;
  std::vector<std::string> names;
  names.reserve(shapes.size());
  for (const auto& [layers, width] : shapes) names.push_back(fmt::format("{}x{}", layers, width));
  throw Error(ErrorKind::refused,
              fmt::format("the size of the file leaves several shapes: {}; say --k-type and --v-type, "
                          "or the whole --kv-shape",
                          fmt::join(names, ", ")));
}

}  // namespace kvtool::format
