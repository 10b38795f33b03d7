#include "compare/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/row_order.h"
#include "compare/sample.h"
#include "kvtool/tensor.h"

namespace kvtool {
namespace {

constexpr std::size_t sample_cells = 8;
constexpr std::size_t most_suspects = 64;  // cells whose labels are looked at
constexpr std::int64_t furthest_shift = 64;

bool near(std::span<const float> a, std::span<const float> b, double noise) {
  return relative_distance(a, b) <= noise;
}

// True if a memory has rows by position; a window model can have a cache of cells without layers.
bool has_rows(const Evidence& e, std::uint32_t memory) {
  const TensorPair first{memory, 0, false};
  return e.a.state.memories[memory].kind == MemoryKind::attention &&
         shape_of(e.a, first) != nullptr && shape_of(e.b, first) != nullptr;
}

// --- rotation

bool equal_after_rotation(const Sample::Both& rows, std::uint32_t width, double noise) {
  if (rows.row % width != 0) return false;
  std::vector<float> turned = rows.b;
  rotate(turned, width);
  return near(rows.a, turned, noise);
}

// The width by which all K rows that differ are turned; 0: none.
std::uint32_t rotation_between(const Sample& sample, double noise) {
  for (const std::uint32_t width : {64U, 128U, 256U, 32U}) {
    bool any = false;
    bool all = true;
    for (std::size_t l = 0; l < sample.layers(); ++l) {
      if (near(sample.k(l).a, sample.k(l).b, noise)) continue;
      any = true;
      all = all && equal_after_rotation(sample.k(l), width, noise);
    }
    if (any && all) return width;
  }
  return 0;
}

std::optional<Explanation> explain_rotation(const Sample& sample, double noise) {
  const std::uint32_t width = rotation_between(sample, noise);
  if (width == 0) return std::nullopt;
  return Explanation{Verdict::rotated,
                     fmt::format("the same, but the K rows of one are stored after a Hadamard "
                                 "rotation in blocks of {}",
                                 width)};
}

std::optional<Explanation> explain_row_order(const Sample& sample, double noise) {
  const auto split = split_between(sample, noise);
  if (!split) return std::nullopt;
  return Explanation{
      Verdict::row_order,
      fmt::format("the same, but K rows are in the other order: heads of {} numbers, {} + {} in one "
                  "and {} + {} in the other; deepseek2 changed it in mid 2025, and back by 2026",
                  split->width, split->first, split->width - split->first,
                  split->width - split->first, split->first)};
}

// --- exchanges

std::optional<Explanation> explain_exchange(const Sample& sample, double noise) {
  if (!sample.has_v() || sample.layers() == 0) return std::nullopt;
  for (std::size_t l = 0; l < sample.layers(); ++l)
    if (!near(sample.k(l).a, sample.v(l).b, noise) || !near(sample.v(l).a, sample.k(l).b, noise))
      return std::nullopt;
  return Explanation{Verdict::keys_and_values_exchanged, "K of one is V of the other"};
}

// Layers of A that are found, K and V, at another layer of B.
std::optional<Explanation> explain_layers(const Sample& sample, double noise) {
  std::vector<std::pair<std::size_t, std::size_t>> moved;
  for (std::size_t l = 0; l < sample.layers(); ++l) {
    if (near(sample.k(l).a, sample.k(l).b, noise)) continue;
    std::size_t at = l;
    for (std::size_t m = 0; m < sample.layers(); ++m)
      if (m != l && near(sample.k(l).a, sample.k(m).b, noise)) at = m;
    if (at == l) return std::nullopt;
    moved.emplace_back(l, at);
  }
  if (moved.empty()) return std::nullopt;
  return Explanation{Verdict::layers_exchanged,
                     fmt::format("layers are exchanged: layer {} of one is layer {} of the other",
                                 moved.front().first, moved.front().second)};
}

// --- labels

// A cell under suspicion, with its K of the first layer.
struct Suspect {
  LoneCell cell;
  std::vector<float> k;
};

std::vector<Suspect> with_values(const Dump& dump, std::uint32_t memory,
                                 const std::vector<LoneCell>& cells) {
  std::vector<Suspect> suspects;
  suspects.reserve(cells.size());
  for (const LoneCell& cell : cells)
    suspects.push_back({cell, values_of(dump, {memory, 0, false}, std::vector{cell.place})});
  return suspects;
}

bool same_label(const CellKey& x, const CellKey& y) {
  return x.sequence == y.sequence && x.position == y.position && x.x == y.x && x.y == y.y;
}

// Cells that only one side has, and pairs whose values are far apart.
void collect(const Evidence& e, std::uint32_t memory, double noise, std::vector<LoneCell>& a,
             std::vector<LoneCell>& b) {
  const MemoryMatch& match = e.matches[memory];
  a = match.only_a;
  b = match.only_b;
  std::size_t first = 0;
  for (std::size_t m = 0; m < memory; ++m) first += e.matches[m].pairs.size();
  for (std::size_t i = 0; i < match.pairs.size() && first + i < e.cells.size(); ++i) {
    if (e.cells[first + i].relative_l2 <= noise) continue;
    a.push_back({match.pairs[i].key, match.pairs[i].a});
    b.push_back({match.pairs[i].key, match.pairs[i].b});
  }
}

std::optional<Explanation> explain_labels_of(const Evidence& e, std::uint32_t memory,
                                             double noise) {
  std::vector<LoneCell> a;
  std::vector<LoneCell> b;
  collect(e, memory, noise, a, b);
  if (a.empty() || a.size() > most_suspects || b.size() > most_suspects) return std::nullopt;
  const auto of_b = with_values(e.b, memory, b);
  std::optional<std::pair<CellKey, CellKey>> example;
  for (const Suspect& x : with_values(e.a, memory, a)) {
    const auto y = std::find_if(of_b.begin(), of_b.end(), [&](const Suspect& s) {
      return !same_label(s.cell.key, x.cell.key) && near(x.k, s.k, noise);
    });
    if (y == of_b.end()) return std::nullopt;
    if (!example) example.emplace(x.cell.key, y->cell.key);
  }
  return Explanation{
      Verdict::relabelled,
      fmt::format("{} cells carry other labels: the data of sequence {} position {} is at sequence "
                  "{} position {} in the other",
                  a.size(), example->first.sequence, example->first.position,
                  example->second.sequence, example->second.position)};
}

// --- shift

// All cells of a memory by (sequence, position), from its match.
std::map<std::pair<SequenceId, std::int64_t>, CellPlace> places_in_b(const MemoryMatch& match) {
  std::map<std::pair<SequenceId, std::int64_t>, CellPlace> places;
  for (const CellPair& pair : match.pairs)
    places[{pair.key.sequence, pair.key.position}] = pair.b;
  for (const LoneCell& cell : match.only_b)
    places[{cell.key.sequence, cell.key.position}] = cell.place;
  return places;
}

std::vector<LoneCell> cells_in_a(const MemoryMatch& match) {
  std::vector<LoneCell> cells = match.only_a;
  for (const CellPair& pair : match.pairs) cells.push_back({pair.key, pair.a});
  return cells;
}

// V does not depend on the position a cell is given, so it shows where a cell went. The last
// layer has seen the most context and repeats least.
TensorPair last_v(const Evidence& e, std::uint32_t memory) {
  std::size_t layers = 0;
  for (const Stream& stream : e.a.state.memories[memory].streams)
    layers = std::max(layers, stream.layers.size());
  return {memory, static_cast<std::uint32_t>(layers - 1), true};
}

std::optional<Explanation> explain_shift(const Evidence& e, std::uint32_t memory, double noise) {
  const TensorPair tensor = last_v(e, memory);
  const Tensor* shape = shape_of(e.a, tensor);
  if (shape == nullptr || shape->orientation == Orientation::absent) return std::nullopt;
  const auto in_b = places_in_b(e.matches[memory]);
  const auto cells = cells_in_a(e.matches[memory]);
  std::map<std::int64_t, std::size_t> votes;
  std::size_t asked = 0;
  const std::size_t step = std::max<std::size_t>(1, cells.size() / sample_cells);
  for (std::size_t i = 0; i < cells.size(); i += step, ++asked) {
    const auto v = values_of(e.a, tensor, std::vector{cells[i].place});
    for (std::int64_t by = -furthest_shift; by <= furthest_shift; ++by) {
      const auto at = in_b.find({cells[i].key.sequence, cells[i].key.position + by});
      if (at == in_b.end()) continue;
      if (near(v, values_of(e.b, tensor, std::vector{at->second}), noise)) ++votes[by];
    }
  }
  for (const auto& [by, count] : votes)
    if (by != 0 && votes[0] * 2 < asked && count * 4 >= asked * 3)
      return Explanation{Verdict::shifted_positions,
                         fmt::format("the same cells at positions shifted by {}", by)};
  return std::nullopt;
}

double noise_of_type(ElementType type) {
  switch (type) {
    case ElementType::q4_0:
    case ElementType::q4_1:
    case ElementType::iq4_nl: return 0.25;
    case ElementType::q5_0:
    case ElementType::q5_1: return 0.12;
    default: return 0.06;
  }
}

}  // namespace

double noise_of(const Dump& a, const Dump& b) {
  double noise = 0.06;
  auto look = [&](const Stream& stream) {
    for (const Layer& layer : stream.layers)
      for (const Tensor* tensor : {&layer.k, &layer.v})
        if (tensor->orientation != Orientation::absent)
          noise = std::max(noise, noise_of_type(tensor->type));
  };
  for_each_stream(a, look);
  for_each_stream(b, look);
  return noise;
}

std::optional<Explanation> explain_labels(const Evidence& e, double noise) {
  for (std::uint32_t m = 0; m < e.matches.size(); ++m)
    if (has_rows(e, m))
      if (auto found = explain_labels_of(e, m, noise)) return found;
  return std::nullopt;
}

std::optional<Explanation> explain(const Evidence& e, const Comparison& /*c*/, double noise) {
  for (std::uint32_t m = 0; m < e.matches.size(); ++m) {
    if (!has_rows(e, m)) continue;
    const Sample sample(e.a, e.b, m, e.matches[m].pairs, sample_cells);
    if (auto found = explain_rotation(sample, noise)) return found;
    if (auto found = explain_row_order(sample, noise)) return found;
    if (auto found = explain_exchange(sample, noise)) return found;
    if (auto found = explain_layers(sample, noise)) return found;
    if (auto found = explain_shift(e, m, noise)) return found;
    if (auto found = explain_labels_of(e, m, noise)) return found;
  }
  return std::nullopt;
}

}  // namespace kvtool
