#include "kvtool/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "compare/figures.h"
#include "compare/match.h"
#include "compare/parts.h"
#include "compare/same_bytes.h"
#include "compare/verdict.h"
#include "convert/header_values.h"
#include "format/header_struct.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"
#include "parallel/ordered_work.h"

namespace kvtool {
namespace {

// --- header

std::string types_of(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty()) {
      const Layer& layer = stream.layers.front();
      const bool has_v = layer.v.orientation != Orientation::absent;
      return fmt::format("{}/{}", info(layer.k.type).name, has_v ? info(layer.v.type).name : "none");
    }
  return "none";
}

std::string version_of(const Dump& dump) {
  return dump.dialect.version == 0 ? "none" : std::to_string(dump.dialect.version);
}

void note(std::vector<HeaderDifference>& list, std::string field, std::string a, std::string b) {
  if (a != b) list.push_back({std::move(field), std::move(a), std::move(b)});
}

// Fields of the header structs of two sessions of before August 2024, if they are laid out alike.
void note_struct(const Dump& a, const Dump& b, std::vector<HeaderDifference>& list) {
  if (a.dialect.header != b.dialect.header || a.header.empty() || b.header.empty()) return;
  const format::HeaderLayout& layout = format::header_layout(a.dialect.header);
  for (const format::HeaderField& field : layout.fields) {
    const auto x = convert_steps::value_in_header(layout, a.header, layout, field);
    const auto y = convert_steps::value_in_header(layout, b.header, layout, field);
    if (!x || !y) continue;
    note(list, "header." + field.name, convert_steps::spelled(field, *x),
         convert_steps::spelled(field, *y));
  }
}

std::vector<HeaderDifference> compare_headers(const Dump& a, const Dump& b) {
  std::vector<HeaderDifference> list;
  note(list, "kind", kind_of(a), kind_of(b));
  note(list, "version", version_of(a), version_of(b));
  note(list, "layout", a.layout, b.layout);
  note(list, "arch", a.arch.value_or("unknown"), b.arch.value_or("unknown"));
  const std::size_t memories = std::min(a.state.memories.size(), b.state.memories.size());
  for (std::size_t m = 0; m < memories; ++m) {
    const Memory& x = a.state.memories[m];
    const Memory& y = b.state.memories[m];
    const std::string name = fmt::format("memory[{}].", m);
    note(list, name + "types", types_of(x), types_of(y));
    note(list, name + "v_layout", v_layout_of(x), v_layout_of(y));
    note(list, name + "streams", std::to_string(x.streams.size()), std::to_string(y.streams.size()));
  }
  note_struct(a, b, list);
  note_lone_parts(a, b, list);
  return list;
}

// --- tokens

bool same_media(const TokenArea& a, const TokenArea& b) {
  return std::equal(a.media.begin(), a.media.end(), b.media.begin(), b.media.end(),
                    [](const MediaSpan& x, const MediaSpan& y) {
                      return x.start == y.start && x.tokens == y.tokens && x.id == y.id;
                    });
}

TokenComparison compare_tokens(const TokenArea& a, const TokenArea& b) {
  TokenComparison c;
  c.count_a = a.ids.size();
  c.count_b = b.ids.size();
  const auto part = std::mismatch(a.ids.begin(), a.ids.end(), b.ids.begin(), b.ids.end());
  c.common_prefix = static_cast<std::uint64_t>(part.first - a.ids.begin());
  const std::uint64_t rest = std::min(c.count_a, c.count_b) - c.common_prefix;
  while (c.common_suffix < rest && a.ids[a.ids.size() - 1 - c.common_suffix] ==
                                       b.ids[b.ids.size() - 1 - c.common_suffix])
    ++c.common_suffix;
  c.media_differ = !same_media(a, b);
  return c;
}

// --- shapes

std::string shape_reason(const Dump& a, const Dump& b, const TensorPair& tensor) {
  const Tensor* x = shape_of(a, tensor);
  const Tensor* y = shape_of(b, tensor);
  const std::string name =
      fmt::format("memory {} layer {} {}", tensor.memory, tensor.layer, tensor.is_v ? "V" : "K");
  if (x == nullptr || y == nullptr) return {};
  if ((x->orientation == Orientation::absent) != (y->orientation == Orientation::absent))
    return fmt::format("{} is in one file only", name);
  if (x->orientation == Orientation::absent) return {};
  if (x->cell_elements() != y->cell_elements())
    return fmt::format("{} has {} values a cell in one and {} in the other", name, x->cell_elements(),
                       y->cell_elements());
  if (!can_decode(x->type) || !can_decode(y->type))
    return fmt::format("{} is of a type whose values kvtool does not know", name);
  if (is_misaligned(*x) || is_misaligned(*y))
    return fmt::format("{} is q8_KV of several heads, whose cells ik_llama.cpp does not save whole",
                       name);
  return {};
}

std::size_t layers_of(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return stream.layers.size();
  return 0;
}

std::string memory_reason(const Dump& a, const Dump& b, std::uint32_t m) {
  const Memory& x = a.state.memories[m];
  const Memory& y = b.state.memories[m];
  if (x.kind != y.kind)
    return fmt::format("memory {} is {} in one and {} in the other", m, name_of(x.kind),
                       name_of(y.kind));
  if (cells_of(x) == 0 || cells_of(y) == 0) return {};
  if (layers_of(x) != layers_of(y))
    return fmt::format("memory {} has {} layers in one and {} in the other", m, layers_of(x),
                       layers_of(y));
  for (std::uint32_t l = 0; l < layers_of(x); ++l)
    for (const bool is_v : {false, true})
      if (auto reason = shape_reason(a, b, {m, l, is_v}); !reason.empty()) return reason;
  return {};
}

// Why the two cannot be compared; empty: they can.
std::string obstacle(const Dump& a, const Dump& b) {
  if (a.arch && b.arch && *a.arch != *b.arch)
    return fmt::format("the architectures are {} and {}", *a.arch, *b.arch);
  if (a.state.memories.size() != b.state.memories.size())
    return fmt::format("the memories are those of {} and of {}", a.state.arrangement,
                       b.state.arrangement);
  for (std::uint32_t m = 0; m < a.state.memories.size(); ++m)
    if (auto reason = memory_reason(a, b, m); !reason.empty()) return reason;
  return {};
}

// --- the whole

class Comparer {
 public:
  Comparer(const Dump& a, const Dump& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  Comparison run() {
    result_.header = compare_headers(a_, b_);
    result_.tokens = compare_tokens(a_.tokens, b_.tokens);
    if (const std::string reason = obstacle(a_, b_); !reason.empty()) return not_comparable(reason);
    for (std::uint32_t m = 0; m < a_.state.memories.size(); ++m) compare_memory(m);
    judge({a_, b_, matches_, differences_, options_}, result_);
    list_worst();
    return std::move(result_);
  }

 private:
  Comparison not_comparable(const std::string& reason) {
    result_.verdict = Verdict::not_comparable;
    result_.words = fmt::format("not comparable: {}", reason);
    return std::move(result_);
  }

  void compare_memory(std::uint32_t m) {
    matches_.push_back(match_cells(a_, b_, m, options_));
    const MemoryMatch& match = matches_.back();
    CellComparison cells;
    cells.memory = m;
    cells.cells_a = cells_of(a_.state.memories[m]);
    cells.cells_b = cells_of(b_.state.memories[m]);
    cells.matched = match.pairs.size();
    cells.moved = match.moved;
    cells.only_a_count = match.only_a.size();
    cells.only_b_count = match.only_b.size();
    list(match.only_a, cells.only_a);
    list(match.only_b, cells.only_b);
    result_.cells.push_back(std::move(cells));
    if (options_.values) compare_values_of(m, match);
  }

  void list(const std::vector<LoneCell>& lone, std::vector<CellKey>& keys) const {
    for (std::size_t i = 0; i < std::min(lone.size(), options_.listed); ++i)
      keys.push_back(lone[i].key);
  }

  bool wanted(std::uint32_t layer) const {
    return !options_.layers || (layer >= options_.layers->first && layer < options_.layers->second);
  }

  std::vector<TensorPair> tensors_of(std::uint32_t m) const {
    std::vector<TensorPair> tensors;
    for (std::uint32_t l = 0; l < layers_of(a_.state.memories[m]); ++l)
      for (const bool is_v : {false, true}) {
        const Tensor* shape = shape_of(a_, {m, l, is_v});
        if (shape == nullptr || shape->orientation == Orientation::absent || !wanted(l)) continue;
        tensors.push_back({m, l, is_v});
      }
    return tensors;
  }

  void compare_values_of(std::uint32_t m, const MemoryMatch& match) {
    CellSums sums;
    sums.of_pair.resize(match.pairs.size());
    if (!match.pairs.empty()) compare_tensors(tensors_of(m), match, sums);
    for (std::size_t i = 0; i < match.pairs.size(); ++i)
      differences_.push_back(difference(match.pairs[i].key, sums.of_pair[i]));
  }

  // One tensor on each thread; sums are added in the tensors' order, so that they do not depend on
  // the number of threads.
  void compare_tensors(const std::vector<TensorPair>& tensors, const MemoryMatch& match,
                       CellSums& sums) {
    struct Job {
      const TensorPair* tensor = nullptr;
      TensorComparison result;
      CellSums sums;
    };
    auto next = tensors.begin();
    auto produce = [&](Job& job) {
      if (next == tensors.end()) return false;
      job.tensor = &*next++;
      return true;
    };
    auto work = [&](Job& job, unsigned) {
      job.result = compare_tensor(a_, b_, *job.tensor, match.pairs, options_, job.sums);
    };
    auto consume = [&](const Job& job) {
      result_.tensors.push_back(job.result);
      sums.add(job.sums);
    };
    OrderedWork<Job>(options_.threads).run(produce, work, consume);
  }

  // Tensors that are equal throughout do not count, so that those that differ show.
  static CellDifference difference(const CellKey& key, const Sums& sums) {
    const double relative = sums.a2 > 0 ? std::sqrt(sums.difference2 / sums.a2)
                                        : (sums.difference2 > 0 ? HUGE_VAL : 0);
    return {key, sums.max_abs, sums.not_finite > 0 ? HUGE_VAL : relative};
  }

  void list_worst() {
    auto worse = [](const CellDifference& x, const CellDifference& y) {
      return x.relative_l2 > y.relative_l2;
    };
    result_.worst = differences_;
    std::stable_sort(result_.worst.begin(), result_.worst.end(), worse);
    const auto end = std::find_if(result_.worst.begin(), result_.worst.end(),
                                  [](const CellDifference& d) { return d.relative_l2 == 0; });
    result_.worst.erase(end, result_.worst.end());
    if (result_.worst.size() > options_.top) result_.worst.resize(options_.top);
    if (options_.per_position) result_.by_position = std::move(differences_);
  }

  const Dump& a_;
  const Dump& b_;
  const CompareOptions& options_;
  Comparison result_;
  std::vector<MemoryMatch> matches_;
  std::vector<CellDifference> differences_;
};

Comparison identical(const Dump& a, const Dump& b) {
  Comparison c;
  c.tokens = compare_tokens(a.tokens, b.tokens);
  c.verdict = Verdict::identical_bytes;
  c.words = "identical bytes";
  return c;
}

// The memories and what is around them.
Comparison compare_all(const Dump& a, const Dump& b, const CompareOptions& options) {
  Comparison c = compare_memories(a, b, options);
  if (c.verdict == Verdict::not_comparable) return c;
  c.parts = compare_parts(a, b, options);
  for (const PartComparison& part : c.parts)
    if (c.same() && !part.same()) {
      c.verdict = Verdict::different_parts;
      c.words = fmt::format("the same memories, but {} differs: {}", part.part, part.words);
    }
  return c;
}

unsigned usable_threads(const Dump& a, const Dump& b, unsigned wanted) {
  constexpr unsigned most = 8;  // keeps memory bounded
  if (!a.source->for_threads() || !b.source->for_threads()) return 1;
  return std::clamp(wanted > 0 ? wanted : std::thread::hardware_concurrency(), 1U, most);
}

}  // namespace

Comparison compare_memories(const Dump& a, const Dump& b, const CompareOptions& options) {
  CompareOptions usable = options;
  usable.threads = usable_threads(a, b, options.threads);
  return Comparer(a, b, usable).run();
}

Comparison compare(const Dump& a, const Dump& b, const CompareOptions& options) {
  const unsigned threads = usable_threads(a, b, options.threads);
  Comparison result = same_bytes(*a.source, *b.source, threads) ? identical(a, b)
                                                                : compare_all(a, b, options);
  a.source->require_unchanged();
  b.source->require_unchanged();
  return result;
}

}  // namespace kvtool
