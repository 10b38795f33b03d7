#include "compare/row_order.h"

#include <algorithm>

namespace kvtool {
namespace {

// Wider heads are not known; both parts are whole pairs of numbers.
constexpr std::size_t widest_head = 1024;
constexpr std::size_t step = 2;

bool near(std::span<const float> a, std::span<const float> b, double noise) {
  return relative_distance(a, b) <= noise;
}

// `rows` with the first numbers of each head behind the others.
std::vector<float> turned(std::span<const float> rows, const RowSplit& split) {
  std::vector<float> result(rows.size());
  const auto first = static_cast<std::ptrdiff_t>(split.first);
  const auto width = static_cast<std::ptrdiff_t>(split.width);
  auto to = result.begin();
  for (auto head = rows.begin(); head != rows.end(); head += width)
    to = std::rotate_copy(head, head + first, head + width, to);
  return result;
}

bool is_split(const Sample::Both& rows, const RowSplit& split, double noise) {
  if (rows.row % split.width != 0) return false;
  const auto head = std::span(rows.a).first(split.width);  // most splits fail on this already
  if (!near(turned(head, split), std::span(rows.b).first(split.width), noise)) return false;
  return near(turned(rows.a, split), rows.b, noise);
}

std::vector<const Sample::Both*> different_keys(const Sample& sample, double noise) {
  std::vector<const Sample::Both*> rows;
  for (std::size_t l = 0; l < sample.layers(); ++l)
    if (!near(sample.k(l).a, sample.k(l).b, noise)) rows.push_back(&sample.k(l));
  return rows;
}

bool same_values(const Sample& sample, double noise) {
  for (std::size_t l = 0; sample.has_v() && l < sample.layers(); ++l)
    if (!near(sample.v(l).a, sample.v(l).b, noise)) return false;
  return true;
}

}  // namespace

std::optional<RowSplit> split_between(const Sample& sample, double noise) {
  const auto rows = different_keys(sample, noise);
  if (rows.empty() || !same_values(sample, noise)) return std::nullopt;
  const std::size_t row = rows.front()->row;
  for (std::size_t width = 2 * step; width <= std::min(row, widest_head); ++width) {
    if (row % width != 0) continue;
    for (std::size_t first = step; first < width; first += step)
      if (std::all_of(rows.begin(), rows.end(), [&](const Sample::Both* both) {
            return is_split(*both, {width, first}, noise);
          }))
        return RowSplit{width, first};
  }
  return std::nullopt;
}

}  // namespace kvtool
