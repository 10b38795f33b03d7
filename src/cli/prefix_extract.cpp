#include "cli/prefix_extract.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/compare.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

using DumpPtr = std::shared_ptr<const Dump>;

DumpPtr open_fully(const std::string& file) {
  OpenOptions options;
  options.trailing = Trailing::drop;
  return std::make_shared<const Dump>(open_dump(file, options));
}

void require_one_shape(const PromptSet& set) {
  for (std::size_t p = 1; p < set.prompts.size(); ++p)
    if (!set.same_shape(0, p))
      throw Error(ErrorKind::refused, fmt::format("K/V of another kind than in {}: {}; there: {}",
                                                  set.prompts[0].name, set.shapes[set.shape_of[p]],
                                                  set.shapes[set.shape_of[0]]))
          .in_file(set.prompts[p].name);
}

std::uint64_t shared_by_all(const PromptSet& set) {
  const auto shared = set.tree.shared_with_all(0);
  const std::uint64_t least = *std::min_element(shared.begin(), shared.end());
  if (least == 0)
    throw Error(ErrorKind::refused, fmt::format("{} begin with no common token",
                                                counted(set.prompts.size(), "file")));
  return least;
}

// Which file's K/V are taken; `from` joins the set if it is not in it.
std::size_t source_in(PromptSet& set, const std::string& from) {
  if (from.empty()) return 0;
  for (std::size_t p = 0; p < set.prompts.size(); ++p)
    if (set.prompts[p].name == from) return p;
  set.read(open_source(from));
  set.sort_out_shapes();
  return set.prompts.size() - 1;
}

std::string name_of_tensor(const Dump& dump, const TensorComparison& t) {
  return fmt::format("{} of layer {} in memory {} ({})", t.is_v ? "V" : "K", t.layer, t.memory,
                     dump.state.memories[t.memory].role);
}

// Throws unless `other` holds the same K/V for the cells before `position`.
void require_same_values(const Dump& source, const Dump& other, std::uint64_t position,
                         double tolerance) {
  CompareOptions options;
  options.absolute = tolerance;
  options.position_end = static_cast<std::int64_t>(position);
  const Comparison comparison = compare(source, other, options);
  if (comparison.verdict == Verdict::not_comparable)
    throw Error(ErrorKind::refused, comparison.words).in_file(other.source->name());
  for (const TensorComparison& t : comparison.tensors)
    if (!t.same())
      throw Error(ErrorKind::refused,
                  fmt::format("{} differs from {} by up to {:.6g} in the shared cells; say whose "
                              "K/V to take with --from FILE, or allow it with --tolerance",
                              name_of_tensor(source, t), source.source->name(), t.max_abs))
          .in_file(other.source->name());
}

void require_same_values(const PromptSet& set, const Dump& source, std::size_t index,
                         std::uint64_t shared, double tolerance) {
  const std::uint64_t position = position_of(source.tokens, shared).value_or(shared);
  for (std::size_t p = 0; p < set.prompts.size(); ++p)
    if (p != index)
      require_same_values(source, *open_fully(set.prompts[p].name), position, tolerance);
}

void report_prefix(const PromptSet& set, const Plan& plan, std::uint64_t shared, std::uint64_t size,
                   const ExtractOptions& options) {
  const std::string& name = plan.sources.front()->source->name();
  Json figures = {{"tokens", shared}, {"files", Json::array()}};
  for (const StoredPrompt& prompt : set.prompts) figures["files"].push_back(prompt.name);
  report(plan, size, options.rewrite, figures,
         {fmt::format("{} that {} begin with, K/V of {}{}", counted(shared, "token"),
                      counted(set.prompts.size(), "file"), printable(name),
                      options.from.empty() ? "" : ", not compared")});
}

}  // namespace

void extract(PromptSet& set, const ExtractOptions& options) {
  const std::size_t index = source_in(set, options.from);
  if (set.prompts.empty()) throw Error(ErrorKind::usage, "no file is left to extract from");
  require_one_shape(set);
  const std::uint64_t shared = shared_by_all(set);
  const DumpPtr source = open_fully(set.prompts[index].name);
  if (options.from.empty())
    require_same_values(set, *source, index, shared, options.tolerance);
  try {
    const Plan plan = truncate(source, shared, {options.window});
    report_prefix(set, plan, shared, write_output(plan, options.rewrite), options);
  } catch (const Error& error) {
    throw error.file().empty() ? error.in_file(source->source->name()) : error;
  }
}

}  // namespace kvtool::cli
