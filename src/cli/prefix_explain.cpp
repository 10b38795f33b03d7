#include "cli/prefix_explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/prefix.h"
#include "kvtool/stored_prompt.h"

namespace kvtool::cli {
namespace {

// One of the two prompts.
struct Side {
  const Prompt* prompt;
  std::vector<Symbol> symbols;
  std::uint64_t tokens = 0;
};

// How the texts go on from the first token that differs.
struct TextAhead {
  std::size_t common = 0;  // bytes that are the same
  bool equal = false;      // to the end
  bool only_tokens = false;  // the texts go on alike beyond both tokens that differ
};

// A slot file stores no arch, so it contradicts none.
bool are_of_one_shape(const Dump& a, const Dump& b) {
  return shape_text(a) == shape_text(b) && (!a.arch || !b.arch || *a.arch == *b.arch);
}

std::string shape_with_arch(const Dump& dump) {
  return dump.arch ? *dump.arch + ", " + shape_text(dump) : shape_text(dump);
}

class Explainer {
 public:
  Explainer(const Prompt& a, const Prompt& b, const ExplainOptions& options)
      : options_(options), a_(side(a)), b_(side(b)) {
    difference_ = first_difference(a_.symbols, b_.symbols, media_);
    same_shape_ = !a.dump || !b.dump || are_of_one_shape(*a.dump, *b.dump);
    if (options.vocab && !equal()) ahead_ = text_ahead();
  }

  [[nodiscard]] bool equal() const {
    return difference_.symbol == a_.symbols.size() && difference_.symbol == b_.symbols.size();
  }

  void print_text(Printer& out) const {
    out.line("{}: {}", printable(a_.prompt->name), counted(a_.tokens, "token"));
    out.line("{}: {}", printable(b_.prompt->name), counted(b_.tokens, "token"));
    if (!same_shape_) print_shapes(out);
    if (equal()) return out.line("the tokens are equal");
    out.line("the first {} {} equal: {} of the one, {} of the other",
             counted(difference_.tokens, "token"), difference_.tokens == 1 ? "is" : "are",
             percent(difference_.tokens, a_.tokens), percent(difference_.tokens, b_.tokens));
    print_verdict(out);
    print_neighbours(out);
  }

  void print_json(Printer& out) const {
    Json json;
    json["schema"] = "kvtool/1";
    json["files"] = {side_json(a_), side_json(b_)};
    json["shared"] = difference_.tokens;
    json["equal"] = equal();
    json["same_shape"] = same_shape_;
    json["neighbours"] = {neighbours_json(a_), neighbours_json(b_)};
    json["text"] = ahead_ ? Json{{"equal", ahead_->equal},
                                 {"common_bytes", ahead_->common},
                                 {"only_tokens_differ", ahead_->only_tokens}}
                          : Json(nullptr);
    out.json(json);
  }

 private:
  Side side(const Prompt& prompt) {
    Side side{&prompt, symbols_of(prompt.tokens, media_), 0};
    side.tokens = tokens_of(side.symbols, media_);
    return side;
  }

  // The bytes that a symbol stands for; of a medium something that no text is equal to.
  [[nodiscard]] std::string bytes_of(Symbol symbol) const {
    if (symbol >= 0) return options_.vocab->piece(symbol);
    return fmt::format("\xff{} {}\xff", symbol, media_.tokens_of(symbol));
  }

  [[nodiscard]] std::string rest_of(const Side& side) const {
    std::string text;
    for (std::size_t i = difference_.symbol; i < side.symbols.size(); ++i)
      text += bytes_of(side.symbols[i]);
    return text;
  }

  [[nodiscard]] TextAhead text_ahead() const {
    const std::string a = rest_of(a_);
    const std::string b = rest_of(b_);
    TextAhead ahead;
    const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
    ahead.common = static_cast<std::size_t>(end - a.begin());
    ahead.equal = a == b;
    if (difference_.symbol < a_.symbols.size() && difference_.symbol < b_.symbols.size())
      ahead.only_tokens = ahead.common >= std::max(bytes_of(a_.symbols[difference_.symbol]).size(),
                                                   bytes_of(b_.symbols[difference_.symbol]).size());
    return ahead;
  }

  void print_shapes(Printer& out) const {
    out.line("their K/V are not of one kind, so equal tokens share nothing:");
    out.line("  {}", shape_with_arch(*a_.prompt->dump));
    out.line("  {}", shape_with_arch(*b_.prompt->dump));
  }

  void print_verdict(Printer& out) const {
    const bool a_ends = difference_.symbol == a_.symbols.size();
    if (a_ends || difference_.symbol == b_.symbols.size()) {
      out.line("then {} ends; the other goes on",
               printable((a_ends ? a_ : b_).prompt->name));
    } else {
      out.line("token {} is {} in the one and {} in the other", difference_.tokens,
               word_of(a_.symbols[difference_.symbol]), word_of(b_.symbols[difference_.symbol]));
    }
    if (ahead_ && ahead_->equal)
      out.line("the text is equal to the end: only the tokenization differs");
    else if (ahead_ && ahead_->only_tokens)
      out.line("the text goes on alike for {} more: here only the tokenization differs",
               counted(ahead_->common, "byte"));
    else if (ahead_)
      out.line("the text differs there too");
  }

  // "12345", or what a medium is.
  [[nodiscard]] std::string word_of(Symbol symbol) const {
    if (symbol >= 0) return fmt::format("{}", symbol);
    const std::string id = media_.id_of(symbol);
    return fmt::format("a medium of {}, {}", counted(media_.tokens_of(symbol), "token"),
                       id.empty() ? "of unknown content" : "id " + printable(id));
  }

  // The text of a symbol, if there is a vocabulary; else its number.
  [[nodiscard]] std::string label_of(Symbol symbol) const {
    if (symbol < 0) return "<media>";
    if (!options_.vocab) return fmt::format("{}", symbol);
    return fmt::format("{} \"{}\"", symbol, options_.vocab->text(std::span(&symbol, 1)));
  }

  [[nodiscard]] std::size_t first_shown() const {
    return difference_.symbol > options_.around ? difference_.symbol - options_.around : 0;
  }

  // Symbols to show: index of the symbol, and of its first token.
  [[nodiscard]] std::vector<std::pair<std::size_t, std::uint64_t>> shown(const Side& side) const {
    std::vector<std::pair<std::size_t, std::uint64_t>> list;
    std::uint64_t token = tokens_of(std::span(side.symbols).first(first_shown()), media_);
    const std::size_t end = std::min(side.symbols.size(), difference_.symbol + options_.around + 1);
    for (std::size_t i = first_shown(); i < end; ++i) {
      list.emplace_back(i, token);
      token += media_.tokens_of(side.symbols[i]);
    }
    return list;
  }

  [[nodiscard]] std::vector<std::string> column(const Side& side) const {
    std::vector<std::string> cells;
    for (const auto& [i, token] : shown(side))
      cells.push_back(fmt::format("{:>7}  {}", token, label_of(side.symbols[i])));
    return cells;
  }

  void print_neighbours(Printer& out) const {
    std::vector<std::string> left = column(a_);
    std::vector<std::string> right = column(b_);
    const std::size_t rows = std::max(left.size(), right.size());
    left.resize(rows, "      -");
    right.resize(rows, "      -");
    std::size_t width = 0;
    for (const std::string& cell : left) width = std::max(width, cell.size());
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t symbol = first_shown() + r;
      const char* mark = symbol < difference_.symbol    ? " "
                         : symbol == difference_.symbol ? ">"
                                                        : " ";
      out.line("{} {:<{}}  {}", mark, left[r], width, right[r]);
    }
  }

  [[nodiscard]] Json side_json(const Side& side) const {
    return {{"file", side.prompt->name}, {"tokens", side.tokens}};
  }

  [[nodiscard]] Json neighbours_json(const Side& side) const {
    Json list = Json::array();
    for (const auto& [i, token] : shown(side)) {
      const Symbol symbol = side.symbols[i];
      list.push_back({{"token", token},
                      {"id", symbol >= 0 ? Json(symbol) : Json(nullptr)},
                      {"media", symbol < 0 ? Json(media_.id_of(symbol)) : Json(nullptr)},
                      {"text", options_.vocab && symbol >= 0
                                   ? Json(options_.vocab->text(std::span(&symbol, 1)))
                                   : Json(nullptr)}});
    }
    return list;
  }

  const ExplainOptions& options_;
  MediaIndex media_;
  Side a_;
  Side b_;
  FirstDifference difference_;
  bool same_shape_ = true;
  std::optional<TextAhead> ahead_;
};

}  // namespace

bool explain(const Prompt& a, const Prompt& b, const ExplainOptions& options, Printer& out) {
  const Explainer explainer(a, b, options);
  if (options.format == Format::json)
    explainer.print_json(out);
  else
    explainer.print_text(out);
  return explainer.equal();
}

}  // namespace kvtool::cli
