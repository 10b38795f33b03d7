#include "compare/sample.h"

#include <algorithm>
#include <cmath>

namespace kvtool {
namespace {

std::vector<CellPair> spread(std::span<const CellPair> pairs, std::size_t most) {
  std::vector<CellPair> chosen;
  const std::size_t count = std::min(most, pairs.size());
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(pairs[i * pairs.size() / count]);
  return chosen;
}

std::vector<CellPlace> side(std::span<const CellPair> pairs, CellPlace CellPair::*which) {
  std::vector<CellPlace> places;
  for (const CellPair& pair : pairs) places.push_back(pair.*which);
  return places;
}

std::size_t layers_of(const Dump& dump, std::uint32_t memory) {
  for (const Stream& stream : dump.state.memories[memory].streams)
    if (!stream.cells.empty()) return stream.layers.size();
  return 0;
}

}  // namespace

Sample::Sample(const Dump& a, const Dump& b, std::uint32_t memory, std::span<const CellPair> pairs,
               std::size_t most) {
  const auto chosen = spread(pairs, most);
  if (chosen.empty()) return;
  const auto of_a = side(chosen, &CellPair::a);
  const auto of_b = side(chosen, &CellPair::b);
  auto both = [&](std::uint32_t layer, bool is_v) {
    const TensorPair tensor{memory, layer, is_v};
    Both values{values_of(a, tensor, of_a), values_of(b, tensor, of_b), 0};
    values.row = values.a.size() / chosen.size();
    return values;
  };
  for (std::uint32_t layer = 0; layer < layers_of(a, memory); ++layer) {
    const Tensor* v = shape_of(a, {memory, layer, true});
    has_v_ = v != nullptr && v->orientation != Orientation::absent;
    k_.push_back(both(layer, false));
    if (has_v_) v_.push_back(both(layer, true));
  }
}

double relative_distance(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double difference2 = 0;
  double norm2 = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = double{a[i]} - double{b[i]};
    difference2 += d * d;
    norm2 += double{a[i]} * double{a[i]};
  }
  if (difference2 == 0) return 0;
  return norm2 > 0 ? std::sqrt(difference2 / norm2) : HUGE_VAL;
}

}  // namespace kvtool
