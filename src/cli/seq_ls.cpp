#include "cli/seq_ls.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "cli/print.h"
#include "cli/verb.h"
#include "edit/known_tokens.h"
#include "kvtool/facts.h"

namespace kvtool::cli {
namespace {

// A sequence in a memory.
struct Row {
  std::size_t memory;
  std::string role;
  SequenceFacts facts;
  std::uint64_t shared;  // cells that it shares with other sequences
  std::uint64_t tokens;  // of its cells, from the first on, whose ids are known
};

// For each sequence the cells that it shares.
std::map<SequenceId, std::uint64_t> shared_cells(const Memory& memory) {
  std::map<SequenceId, std::uint64_t> shared;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const auto ids = stream.cells.sequences(c);
      if (ids.size() < 2) continue;
      for (const SequenceId id : std::set<SequenceId>(ids.begin(), ids.end())) ++shared[id];
    }
  return shared;
}

std::vector<Row> rows_of(const Dump& dump) {
  std::vector<Row> rows;
  const KnownTokens tokens(dump);
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m) {
    const Memory& memory = dump.state.memories[m];
    std::map<SequenceId, std::uint64_t> shared = shared_cells(memory);
    for (const SequenceFacts& facts : sequences_of(memory, holds_one_sequence(dump)))
      rows.push_back({m, memory.role, facts, facts.id ? shared[*facts.id] : 0,
                      tokens.of(facts.id.value_or(0)).size()});
  }
  return rows;
}

std::string id_of(const Row& row) {
  return row.facts.id ? std::to_string(*row.facts.id) : std::string("-");
}

void print_tsv(const std::vector<Row>& rows, Printer& out) {
  out.line("memory\trole\tseq\tcells\tpos_min\tpos_max\tholes\tshared\truns\ttokens");
  for (const Row& r : rows)
    out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", r.memory, r.role, id_of(r), r.facts.cells,
             r.facts.pos_min, r.facts.pos_max, r.facts.holes, r.shared, r.facts.runs, r.tokens);
}

Json missing_of(const SequenceFacts& facts) {
  Json list = Json::array();
  for (const PositionRange& range : facts.missing) list.push_back({range.begin, range.end});
  return list;
}

void print_json(const Dump& dump, const std::vector<Row>& rows, Printer& out) {
  Json json = json_document(dump.source->name());
  json["sequences"] = Json::array();
  for (const Row& r : rows)
    json["sequences"].push_back({{"memory", r.memory},
                                 {"role", r.role},
                                 {"seq", r.facts.id ? Json(*r.facts.id) : Json(nullptr)},
                                 {"cells", r.facts.cells},
                                 {"pos_min", r.facts.pos_min},
                                 {"pos_max", r.facts.pos_max},
                                 {"missing", missing_of(r.facts)},
                                 {"shared", r.shared},
                                 {"runs", r.facts.runs},
                                 {"tokens", r.tokens}});
  out.json(json);
}

std::string holes_of(const SequenceFacts& facts) {
  std::string words;
  for (const PositionRange& range : facts.missing) {
    if (words.size() > 60) return words + " ...";
    words += fmt::format("{}{}:{}", words.empty() ? "" : " ", range.begin, range.end);
  }
  return words.empty() ? "-" : words;
}

void print_text(const std::vector<Row>& rows, Printer& out) {
  out.line("{:<16} {:>5} {:>8} {:>15} {:>8} {:>8}  {}", "memory", "seq", "cells", "positions",
           "shared", "tokens", "holes");
  for (const Row& r : rows)
    out.line("{:<16} {:>5} {:>8} {:>15} {:>8} {:>8}  {}", fmt::format("{} {}", r.memory, r.role),
             id_of(r), r.facts.cells,
             fmt::format("{}:{}", r.facts.pos_min, std::int64_t{r.facts.pos_max} + 1), r.shared,
             r.tokens, holes_of(r.facts));
}

}  // namespace

void add_seq_ls(CLI::App& verb, SeqListOptions& options) {
  add_input(verb, options.input);
  verb.add_flag("--json", options.json, "print JSON");
  verb.add_flag("--tsv", options.tsv, "print tab-separated columns")->excludes("--json");
}

int list_sequences(const SeqListOptions& options) {
  const auto dump = open(options.input);
  const std::vector<Row> rows = rows_of(*dump);
  Printer out;
  if (options.json) print_json(*dump, rows, out);
  if (options.tsv) print_tsv(rows, out);
  if (!options.json && !options.tsv) print_text(rows, out);
  out.finish();
  return exit_fine;
}

}  // namespace kvtool::cli
