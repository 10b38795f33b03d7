// prefix --best-for: which file saves a server the most work on a prompt.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "cli/prefix_print.h"

namespace kvtool::cli {
namespace {

struct Candidate {
  std::uint32_t file = 0;
  std::uint64_t shared = 0;
  Reuse reuse;
};

// The most reused first, then the most shared, then the shortest stored; else as they came.
std::vector<Candidate> ranked(const PromptSet& set, std::uint32_t prompt, std::size_t files) {
  const auto shared = set.tree.shared_with_all(prompt);
  std::vector<Candidate> candidates;
  for (std::uint32_t f = 0; f < files; ++f)
    candidates.push_back(
        {f, shared[f], reuse_of(set.prompts[f], shared[f], set.tree.tokens(prompt))});
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](const Candidate& a, const Candidate& b) {
                     return std::tuple(b.reuse.reused, b.shared, set.prompts[a.file].tokens) <
                            std::tuple(a.reuse.reused, a.shared, set.prompts[b.file].tokens);
                   });
  return candidates;
}

Json candidate_json(const PromptSet& set, const Candidate& c) {
  const auto& points = set.prompts[c.file].rewind.checkpoints;
  return {{"file", set.prompts[c.file].name},
          {"tokens", set.prompts[c.file].tokens},
          {"shared", c.shared},
          {"reused", c.reuse.reused},
          {"recomputed", c.reuse.recomputed},
          {"checkpoint_tokens",
           c.reuse.checkpoint ? Json(points[*c.reuse.checkpoint].tokens) : Json(nullptr)},
          {"reason", c.reuse.reason.empty() ? Json(nullptr) : Json(c.reuse.reason)}};
}

void print_json(const PromptSet& set, const Prompt& prompt, std::uint64_t length,
                const std::vector<Candidate>& candidates, Printer& out) {
  Json json;
  json["schema"] = "kvtool/1";
  json["prompt"] = {{"file", prompt.name}, {"tokens", length}};
  json["best"] = Json::array();
  for (const Candidate& c : candidates) json["best"].push_back(candidate_json(set, c));
  json["failed"] = prompts_json(set)["failed"];
  out.json(json);
}

void print_tsv(const PromptSet& set, const std::vector<Candidate>& candidates, Printer& out) {
  out.line("reused\trecomputed\tshared\ttokens\tfile\treason");
  for (const Candidate& c : candidates)
    out.line("{}\t{}\t{}\t{}\t{}\t{}", c.reuse.reused, c.reuse.recomputed, c.shared,
             set.prompts[c.file].tokens, printable(set.prompts[c.file].name),
             c.reuse.reason.empty() ? "-" : c.reuse.reason);
}

void print_text(const PromptSet& set, std::uint64_t length,
                const std::vector<Candidate>& candidates, std::size_t left_out, Printer& out) {
  out.line("prompt of {}", counted(length, "token"));
  if (!candidates.empty())
    out.line("{:>8} {:>11} {:>8} {:>8}  file", "reused", "recomputed", "shared", "stored");
  for (const Candidate& c : candidates) {
    out.line("{:>8} {:>11} {:>8} {:>8}  {}", c.reuse.reused, c.reuse.recomputed, c.shared,
             set.prompts[c.file].tokens, printable(set.prompts[c.file].name));
    if (!c.reuse.reason.empty()) out.line("{:>39} {}", "", c.reuse.reason);
  }
  if (left_out > 0)
    out.line("{} {} nothing with it", counted(left_out, "file"),
             left_out == 1 ? "shares" : "share");
}

}  // namespace

bool print_best(PromptSet& set, const Prompt& prompt, std::size_t top, Format format,
                Printer& out) {
  const std::size_t files = set.prompts.size();
  const std::uint32_t index = set.tree.add(symbols_of(prompt.tokens, set.media), set.media);
  std::vector<Candidate> candidates = ranked(set, index, files);
  const auto useless =
      std::erase_if(candidates, [](const Candidate& c) { return c.shared == 0; });
  const bool found = !candidates.empty() && candidates.front().reuse.reused > 0;
  if (top > 0 && candidates.size() > top) candidates.resize(top);
  const std::uint64_t length = set.tree.tokens(index);
  if (format == Format::json)
    print_json(set, prompt, length, candidates, out);
  else if (format == Format::tsv)
    print_tsv(set, candidates, out);
  else
    print_text(set, length, candidates, useless, out);
  return found;
}

}  // namespace kvtool::cli
