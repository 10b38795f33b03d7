// diff: two dumps by (sequence, position), in words and figures.
#include <cmath>

#include "cli/input.h"
#include "cli/print.h"
#include "cli/tensor_name.h"
#include "cli/verb.h"
#include "kvtool/compare.h"
#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions a;
  std::string b;
  CellFilter filter;
  CompareOptions compare;
  std::string layers;
  bool json = false;
  bool tsv = false;
  bool summary = false;
  bool names_only = false;
  bool quiet = false;
};

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json key_json(const CellKey& key) {
  return {{"memory", key.memory}, {"seq", key.sequence}, {"pos", key.position}, {"x", key.x},
          {"y", key.y}};
}

Json cells_json(const CellComparison& c) {
  Json json = {{"memory", c.memory},       {"cells_a", c.cells_a},
               {"cells_b", c.cells_b},     {"matched", c.matched},
               {"moved", c.moved},         {"only_a", c.only_a_count},
               {"only_b", c.only_b_count}, {"only_a_first", Json::array()},
               {"only_b_first", Json::array()}};
  for (const CellKey& key : c.only_a) json["only_a_first"].push_back(key_json(key));
  for (const CellKey& key : c.only_b) json["only_b_first"].push_back(key_json(key));
  return json;
}

Json tensor_json(const TensorComparison& t) {
  return {{"memory", t.memory},
          {"layer", t.layer},
          {"part", t.is_v ? "v" : "k"},
          {"cells", t.cells},
          {"equal_cells", t.equal_cells},
          {"over_tolerance", t.over_tolerance},
          {"max_abs", number(t.max_abs)},
          {"rms", number(t.rms)},
          {"relative_l2", number(t.relative_l2)},
          {"cosine", number(t.cosine)},
          {"not_finite", t.not_finite},
          {"not_finite_in_both", t.not_finite_in_both}};
}

Json difference_json(const CellDifference& d) {
  Json json = key_json(d.key);
  json["max_abs"] = number(d.max_abs);
  json["relative_l2"] = number(d.relative_l2);
  return json;
}

template <class List, class ToJson>
Json array_of(const List& list, ToJson to_json) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(to_json(item));
  return json;
}

Json comparison_json(const Dump& a, const Dump& b, const Comparison& c, const Options& o) {
  Json json = json_document(a.source->name());
  json["other"] = b.source->name();
  json["verdict"] = name_of(c.verdict);
  json["words"] = c.words;
  json["same"] = c.same();
  json["header"] = array_of(c.header, [](const HeaderDifference& d) {
    return Json{{"field", d.field}, {"a", d.a}, {"b", d.b}};
  });
  json["tokens"] = {{"count_a", c.tokens.count_a},
                    {"count_b", c.tokens.count_b},
                    {"common_prefix", c.tokens.common_prefix},
                    {"common_suffix", c.tokens.common_suffix},
                    {"equal", c.tokens.equal()}};
  json["cells"] = array_of(c.cells, cells_json);
  json["tensors"] = array_of(c.tensors, tensor_json);
  json["parts"] = array_of(c.parts, [](const PartComparison& p) {
    return Json{{"part", p.part}, {"verdict", name_of(p.verdict)}, {"words", p.words}};
  });
  json["worst"] = array_of(c.worst, difference_json);
  if (o.compare.per_position) json["positions"] = array_of(c.by_position, difference_json);
  return json;
}

void print_header(const Comparison& c, Printer& out) {
  for (const HeaderDifference& d : c.header)
    out.line("{:<12}{}: {} | {}", "header", d.field, d.a, d.b);
}

void print_tokens(const TokenComparison& t, Printer& out) {
  if (t.equal()) return out.line("{:<12}{}, equal", "tokens", counted(t.count_a, "id"));
  out.line("{:<12}{} | {}: equal up to {}, then {} | {} differ, then {} equal at the end{}",
           "tokens", t.count_a, t.count_b, t.common_prefix,
           t.count_a - t.common_prefix - t.common_suffix,
           t.count_b - t.common_prefix - t.common_suffix, t.common_suffix,
           t.media_differ ? "; the media differ" : "");
}

void print_lone(const std::vector<CellKey>& keys, std::uint64_t count, const char* side,
                Printer& out) {
  for (const CellKey& key : keys)
    out.line("{:<12}  only in {}: sequence {} position {}", "", side, key.sequence, key.position);
  if (count > keys.size())
    out.line("{:<12}  ... {} more only in {}", "", count - keys.size(), side);
}

void print_cells(const CellComparison& c, Printer& out) {
  out.line("{:<12}memory {}: {} | {}, {} in both, {} at another place, {} only in A, {} only in B",
           "cells", c.memory, c.cells_a, c.cells_b, c.matched, c.moved, c.only_a_count,
           c.only_b_count);
  print_lone(c.only_a, c.only_a_count, "A", out);
  print_lone(c.only_b, c.only_b_count, "B", out);
}

// What is left out of the figures.
std::string not_finite_text(const TensorComparison& t) {
  std::string text;
  if (t.not_finite > 0) text += fmt::format(", {} NaN or Inf", t.not_finite);
  if (t.not_finite_in_both > 0) text += fmt::format(", {} NaN or Inf in both", t.not_finite_in_both);
  return text;
}

void print_tensor(const Dump& dump, const TensorComparison& t, Printer& out) {
  const std::string name =
      fmt::format("memory {} layer {} {}", t.memory, t.layer, part_letter(dump, t.memory, t.is_v));
  if (t.equal_cells == t.cells) return out.line("{:<12}{}: equal", "values", name);
  out.line(
      "{:<12}{}: {} of {} cells equal, {} over tolerance, max {:.3g}, rms {:.3g}, relative "
      "{:.3g}, cosine {:.6f}{}",
      "values", name, t.equal_cells, t.cells, t.over_tolerance, t.max_abs, t.rms, t.relative_l2,
      t.cosine, not_finite_text(t));
}

void print_parts(const std::vector<PartComparison>& parts, Printer& out) {
  for (const PartComparison& p : parts)
    if (!p.same()) out.line("{:<12}{}: {}", "part", p.part, p.words);
}

void print_differences(const std::vector<CellDifference>& list, const char* title, Printer& out) {
  for (const CellDifference& d : list)
    out.line("{:<12}memory {} sequence {} position {}: max {:.3g}, relative {:.3g}", title,
             d.key.memory, d.key.sequence, d.key.position, d.max_abs, d.relative_l2);
}

void print_tsv(const Comparison& c, Printer& out) {
  out.line(
      "memory\tlayer\tpart\tcells\tequal\tover\tmax_abs\trms\trelative_l2\tcosine\tnot_finite\t"
      "not_finite_in_both");
  for (const TensorComparison& t : c.tensors)
    out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", t.memory, t.layer, t.is_v ? "v" : "k",
             t.cells, t.equal_cells, t.over_tolerance, t.max_abs, t.rms, t.relative_l2, t.cosine,
             t.not_finite, t.not_finite_in_both);
}

// The names of what differs, one a line.
void print_names(const Comparison& c, Printer& out) {
  for (const HeaderDifference& d : c.header) out.line("{}", d.field);
  if (!c.tokens.equal()) out.line("tokens");
  for (const CellComparison& cells : c.cells)
    if (cells.only_a_count + cells.only_b_count > 0) out.line("memory[{}].cells", cells.memory);
  for (const TensorComparison& t : c.tensors)
    if (!t.same()) out.line("memory[{}].layer[{}].{}", t.memory, t.layer, t.is_v ? "v" : "k");
  for (const PartComparison& p : c.parts)
    if (!p.same()) out.line("{}", p.part);
}

void print_text(const Dump& dump, const Comparison& c, const Options& o, Printer& out) {
  if (!o.summary) {
    print_header(c, out);
    print_tokens(c.tokens, out);
    for (const CellComparison& cells : c.cells) print_cells(cells, out);
    for (const TensorComparison& t : c.tensors) print_tensor(dump, t, out);
    print_parts(c.parts, out);
    print_differences(c.worst, "furthest", out);
    print_differences(c.by_position, "position", out);
  }
  out.line("{}", c.words);
}

void print(const Dump& a, const Dump& b, const Comparison& c, const Options& o, Printer& out) {
  if (o.json) return out.json(comparison_json(a, b, c, o));
  if (o.tsv) return print_tsv(c, out);
  if (o.names_only) return print_names(c, out);
  if (!o.quiet) print_text(a, c, o, out);
}

CompareOptions compare_options(const Options& o) {
  CompareOptions options = o.compare;
  const CellPredicate filter(o.filter);
  options.sequence = filter.sequence();
  options.position_begin = filter.begin();
  options.position_end = filter.end();
  if (!o.layers.empty()) options.layers = parse_layers(o.layers);
  return options;
}

int run(const Options& o) {
  const auto a = open(o.a);
  InputOptions other = o.a;
  other.file = o.b;
  other.layout.clear();
  const auto b = open(other);
  const Comparison c = compare(*a, *b, compare_options(o));
  Printer out;
  print(*a, *b, c, o, out);
  out.finish();
  if (c.verdict == Verdict::not_comparable) return exit_trouble;
  return c.same() ? exit_fine : exit_differs;
}

}  // namespace

Action add_diff(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  options->compare.threads = 0;
  add_input(verb, options->a);
  verb.add_option("OTHER", options->b, "the dump to compare it with")->required();
  add_filter(verb, options->filter);
  verb.add_option("--layers", options->layers, "only layers from A up to and without B")
      ->type_name("A:B");
  verb.add_option("--abs", options->compare.absolute, "differences up to this count as same")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--rel", options->compare.relative,
                  "differences up to this share of a value count as same")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--top", options->compare.top, "how many of the furthest cells to list")
      ->capture_default_str();
  verb.add_option("-T,--threads", options->compare.threads, "threads; 0: one for each core")
      ->check(CLI::Range(0U, 1024U))
      ->type_name("N")
      ->capture_default_str();
  verb.add_flag("--per-position", options->compare.per_position, "figures of every cell");
  auto* summary = verb.add_flag("--summary", options->summary, "only the verdict");
  auto* names =
      verb.add_flag("--names-only", options->names_only, "only the names of what differs");
  auto* json = verb.add_flag("--json", options->json, "print JSON");
  auto* tsv = verb.add_flag("--tsv", options->tsv, "print the figures of the tensors in columns");
  verb.add_flag("-q,--quiet", options->quiet, "print nothing; the exit status tells");
  json->excludes(tsv)->excludes(names)->excludes(summary);
  tsv->excludes(names)->excludes(summary);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
