// prefix --matrix: the tokens that every pair of files shares.
#include <fmt/format.h>

#include <algorithm>

#include "cli/prefix_print.h"

namespace kvtool::cli {
namespace {

std::size_t digits(std::uint64_t number) { return fmt::formatted_size("{}", number); }

// "98", or "(98)" when the same tokens have K/V of another kind.
std::string entry(const PromptSet& set, std::size_t a, std::size_t b, std::uint64_t shared) {
  const bool bracketed = shared > 0 && !set.same_shape(a, b);
  return bracketed ? fmt::format("({})", shared) : fmt::format("{} ", shared);
}

void print_text(const PromptSet& set, Printer& out) {
  std::uint64_t longest = 0;
  for (const StoredPrompt& prompt : set.prompts) longest = std::max(longest, prompt.tokens);
  const std::size_t width = std::max(digits(longest), digits(set.prompts.size())) + 3;
  const std::size_t number = digits(set.prompts.size());
  std::string head(number, ' ');
  for (std::size_t p = 1; p <= set.prompts.size(); ++p)
    head += fmt::format("{:>{}} ", p, width - 1);
  out.line("{}  file", head);
  bool other_shapes = false;
  for (std::uint32_t a = 0; a < set.prompts.size(); ++a) {
    const auto row = set.tree.shared_with_all(a);
    std::string line = fmt::format("{:>{}}", a + 1, number);
    for (std::size_t b = 0; b < set.prompts.size(); ++b) {
      line += fmt::format("{:>{}}", entry(set, a, b, row[b]), width);
      other_shapes |= !set.same_shape(a, b) && row[b] > 0;
    }
    out.line("{}  {}", line, printable(set.prompts[a].name));
  }
  if (other_shapes) out.line("(in brackets: the same tokens, but K/V of another kind)");
}

void print_tsv(const PromptSet& set, Printer& out) {
  std::string head = "file";
  for (const StoredPrompt& prompt : set.prompts) head += "\t" + printable(prompt.name);
  out.line("{}", head);
  for (std::uint32_t a = 0; a < set.prompts.size(); ++a)
    out.line("{}\t{}", printable(set.prompts[a].name),
             fmt::join(set.tree.shared_with_all(a), "\t"));
}

}  // namespace

void print_matrix(const PromptSet& set, Format format, Printer& out) {
  if (format == Format::tsv) return print_tsv(set, out);
  if (format == Format::text) return print_text(set, out);
  Json json = prompts_json(set);
  json["shared"] = Json::array();
  for (std::uint32_t a = 0; a < set.prompts.size(); ++a)
    json["shared"].push_back(set.tree.shared_with_all(a));
  out.json(json);
}

}  // namespace kvtool::cli
