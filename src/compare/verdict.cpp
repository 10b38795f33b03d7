#include "compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/explain.h"

namespace kvtool {
namespace {

void settle(Comparison& c, Verdict verdict, std::string words) {
  c.verdict = verdict;
  c.words = std::move(words);
}

bool lone_cells(const Comparison& c) {
  return std::any_of(c.cells.begin(), c.cells.end(), [](const CellComparison& cells) {
    return cells.only_a_count + cells.only_b_count > 0;
  });
}

std::uint64_t matched_cells(const Comparison& c) {
  std::uint64_t matched = 0;
  for (const CellComparison& cells : c.cells) matched += cells.matched;
  return matched;
}

// Everything that both hold is equal.
void judge_equal_values(Comparison& c) {
  if (lone_cells(c))
    settle(c, Verdict::different_cells,
           "what both hold is equal, but each or one of them has cells that the other lacks");
  else if (!c.tokens.equal())
    settle(c, Verdict::different_tokens, "the same cells and values under another token list");
  else
    settle(c, Verdict::same_content, "the same content in another order, layout or file format");
}

std::string tensor_name(const Dump& dump, const TensorComparison& t) {
  const bool recurrent = dump.state.memories[t.memory].kind == MemoryKind::recurrent;
  const char* part = t.is_v ? (recurrent ? "S" : "V") : (recurrent ? "R" : "K");
  return fmt::format("memory {} layer {} {}", t.memory, t.layer, part);
}

const TensorComparison& worst_of(const Comparison& c) {
  return *std::max_element(c.tensors.begin(), c.tensors.end(), [](const auto& x, const auto& y) {
    return x.relative_l2 < y.relative_l2;
  });
}

// Layers with a tensor that is further off than noise.
std::set<std::pair<std::uint32_t, std::uint32_t>> bad_layers(const Comparison& c, double noise) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> layers;
  for (const TensorComparison& t : c.tensors)
    if (t.relative_l2 > noise || t.not_finite > 0) layers.insert({t.memory, t.layer});
  return layers;
}

bool different_conversation(const Comparison& c) {
  const std::uint64_t shorter = std::min(c.tokens.count_a, c.tokens.count_b);
  return !c.tokens.equal() && shorter > 0 && c.tokens.common_prefix < shorter;
}

void judge_noise(const Evidence& e, const Comparison& c, double noise, Comparison& out) {
  const TensorComparison& worst = worst_of(c);
  settle(out, Verdict::within_noise,
         fmt::format("the same within noise: at most {:.2g} relative, in {}; another kernel, build "
                     "or type does that (up to {:.2g} is taken for noise)",
                     worst.relative_l2, tensor_name(e.a, worst), noise));
}

// What became of the cells before the place where the tokens part.
std::string start_in_words(const Evidence& e, const Comparison& c, double noise) {
  const auto parted = static_cast<std::int64_t>(c.tokens.common_prefix);
  double furthest = 0;
  std::uint64_t cells = 0;
  for (const CellDifference& d : e.cells) {
    if (d.key.position >= parted) continue;
    furthest = std::max(furthest, d.relative_l2);
    ++cells;
  }
  if (cells == 0) return {};
  if (furthest == 0) return ", and up to there all values are equal";
  return fmt::format(", and up to there cells differ by at most {:.2g} relative, which is {}", furthest,
                     furthest <= noise ? "noise" : "more than noise");
}

void judge_unexplained(const Evidence& e, const Comparison& in, double noise, Comparison& c) {
  if (different_conversation(in))
    return settle(c, Verdict::different_conversations,
                  fmt::format("different conversations: tokens part at {}{}",
                              in.tokens.common_prefix, start_in_words(e, in, noise)));
  const TensorComparison& worst = worst_of(in);
  settle(c, Verdict::different_values,
         fmt::format("different values, furthest in {} ({:.2g} relative): other weights, other "
                     "positions, or damage",
                     tensor_name(e.a, worst), worst.relative_l2));
}

void judge_values(const Evidence& e, Comparison& c) {
  const double noise = noise_of(e.a, e.b);
  const auto bad = bad_layers(c, noise);
  if (bad.empty()) return judge_noise(e, c, noise, c);
  if (const auto found = explain(e, c, noise)) return settle(c, found->verdict, found->words);
  if (bad.size() == 1 && c.tensors.size() > 2)
    return settle(c, Verdict::one_layer_wrong,
                  fmt::format("only layer {} of memory {} differs by more than noise (up to {:.2g} "
                              "relative is taken for that)",
                              bad.begin()->second, bad.begin()->first, noise));
  judge_unexplained(e, c, noise, c);
}

}  // namespace

void judge(const Evidence& evidence, Comparison& c) {
  const bool values_same = std::all_of(c.tensors.begin(), c.tensors.end(),
                                       [](const TensorComparison& t) { return t.same(); });
  if (matched_cells(c) == 0 && lone_cells(c)) {
    if (const auto found = explain(evidence, c, noise_of(evidence.a, evidence.b)))
      return settle(c, found->verdict, found->words);
    return settle(c, different_conversation(c) ? Verdict::different_conversations
                                               : Verdict::different_cells,
                  "they have no cell in common");
  }
  if (values_same && lone_cells(c))
    if (const auto found = explain_labels(evidence, noise_of(evidence.a, evidence.b)))
      return settle(c, found->verdict, found->words);
  values_same ? judge_equal_values(c) : judge_values(evidence, c);
}

std::string name_of(Verdict verdict) {
  static const std::map<Verdict, std::string> names = {
      {Verdict::identical_bytes, "identical_bytes"},
      {Verdict::same_content, "same_content"},
      {Verdict::within_noise, "within_noise"},
      {Verdict::one_layer_wrong, "one_layer_wrong"},
      {Verdict::layers_exchanged, "layers_exchanged"},
      {Verdict::keys_and_values_exchanged, "keys_and_values_exchanged"},
      {Verdict::shifted_positions, "shifted_positions"},
      {Verdict::rotated, "rotated"},
      {Verdict::row_order, "row_order"},
      {Verdict::relabelled, "relabelled"},
      {Verdict::different_values, "different_values"},
      {Verdict::different_cells, "different_cells"},
      {Verdict::different_tokens, "different_tokens"},
      {Verdict::different_parts, "different_parts"},
      {Verdict::different_conversations, "different_conversations"},
      {Verdict::not_comparable, "not_comparable"},
  };
  return names.at(verdict);
}

}  // namespace kvtool
