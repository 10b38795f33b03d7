#include "cli/edit_report.h"

#include <fmt/format.h>

namespace kvtool::cli {
namespace {

Json memories_of(const Plan& plan) {
  Json list = Json::array();
  const auto& before = plan.sources.front()->state.memories;
  const auto& after = plan.target.state.memories;
  for (std::size_t m = 0; m < after.size(); ++m) {
    if (after[m].kind == MemoryKind::verbatim) continue;
    list.push_back({{"memory", m},
                    {"role", after[m].role},
                    {"cells_before", m < before.size() ? cells_of(before[m]) : 0},
                    {"cells_after", cells_of(after[m])}});
  }
  return list;
}

Json figures_of(const SequenceEdit& edit, const std::vector<TensorLoss>& losses) {
  const Dump& before = *edit.plan.sources.front();
  const Dump& after = edit.plan.target;
  return {{"memories", memories_of(edit.plan)},
          {"tokens_before", before.tokens.ids.size()},
          {"tokens_after", after.tokens.ids.size()},
          {"checkpoints_before", before.tail.checkpoints.size()},
          {"checkpoints_after", after.tail.checkpoints.size()},
          {"notes", edit.notes},
          {"losses", json_of(losses)}};
}

// The largest relative error of rows that were rounded again.
std::string loss_line(const std::vector<TensorLoss>& losses) {
  const TensorLoss* worst = &losses.front();
  for (const TensorLoss& loss : losses)
    if (loss.relative_l2 > worst->relative_l2) worst = &loss;
  return fmt::format("rounding of what was turned: at most {:.3g} of its length ({})",
                     worst->relative_l2, worst->tensor);
}

std::vector<std::string> lines_of(const SequenceEdit& edit, const std::string& headline,
                                  const Json& figures, const std::vector<TensorLoss>& losses) {
  std::vector<std::string> lines = {headline};
  for (const Json& m : figures["memories"])
    lines.push_back(fmt::format("memory {} ({}): {} -> {} cells", m["memory"].get<std::size_t>(),
                                m["role"].get<std::string>(),
                                m["cells_before"].get<std::uint64_t>(),
                                m["cells_after"].get<std::uint64_t>()));
  const auto add = [&](const char* what, const char* before, const char* after) {
    const auto a = figures[before].get<std::uint64_t>();
    const auto b = figures[after].get<std::uint64_t>();
    if (a + b > 0) lines.push_back(fmt::format("{}: {} -> {}", what, a, b));
  };
  add("tokens", "tokens_before", "tokens_after");
  add("checkpoints", "checkpoints_before", "checkpoints_after");
  if (!losses.empty()) lines.push_back(loss_line(losses));
  for (const std::string& note : edit.notes) lines.push_back(fmt::format("note: {}", note));
  return lines;
}

}  // namespace

void write_edit(const SequenceEdit& edit, const RewriteOptions& options,
                const std::string& headline, const Json& figures) {
  std::vector<TensorLoss> losses;
  const std::uint64_t size = write_output(edit.plan, options, &losses);
  Json all = figures;
  all.update(figures_of(edit, losses));
  report(edit.plan, size, options, all, lines_of(edit, headline, all, losses));
}

}  // namespace kvtool::cli
