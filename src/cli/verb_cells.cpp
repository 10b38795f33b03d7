// cells: one row a cell, as TSV or JSON lines.
#include <fmt/format.h>

#include "cli/input.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/facts.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  CellFilter filter;
  bool json = false;
  bool tsv = false;
};

// What a row shows, wherever it is printed.
struct Row {
  std::size_t memory = 0;
  std::size_t stream = 0;
  std::size_t index = 0;  // in `cells`
  std::size_t shown = 0;  // in the file
  const CellTable& cells;
  std::optional<TokenId> token;
};

std::string or_dash(bool known, std::int64_t value) {
  return known ? std::to_string(value) : std::string("-");
}

void print_tsv(const Row& row, Printer& out) {
  const bool extended = row.cells.extension() != CellExtension::none;
  const CellExtra extra = row.cells.extra(row.index);
  const auto ids = row.cells.sequences(row.index);
  out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", row.memory, row.stream, row.shown,
           row.cells.position(row.index), or_dash(extended, extra.x), or_dash(extended, extra.y),
           or_dash(row.token.has_value(), row.token.value_or(0)),
           ids.empty() ? "-" : fmt::format("{}", fmt::join(ids, ",")));
}

void print_json(const Row& row, Printer& out) {
  const bool extended = row.cells.extension() != CellExtension::none;
  const CellExtra extra = row.cells.extra(row.index);
  const auto ids = row.cells.sequences(row.index);
  Json json;
  json["memory"] = row.memory;
  json["stream"] = row.stream;
  json["index"] = row.shown;
  json["pos"] = row.cells.position(row.index);
  json["x"] = extended ? Json(extra.x) : Json(nullptr);
  json["y"] = extended ? Json(extra.y) : Json(nullptr);
  json["token"] = row.token ? Json(*row.token) : Json(nullptr);
  json["seqs"] = std::vector<SequenceId>(ids.begin(), ids.end());
  out.json(json, true);
}

// Cells of old sessions that are listed without K and V count on behind the others.
struct Table {
  const CellTable& cells;
  std::size_t first;                                // index of its first cell in the file
  std::vector<std::optional<TokenId>> tokens = {};  // of its cells, where they are looked up
};

int run(const Options& options) {
  const auto dump = open(options.input);
  const CellPredicate wanted(options.filter);
  Printer out;
  if (!options.json) out.line("memory\tstream\tindex\tpos\tx\ty\ttoken\tseqs");
  for (std::size_t m = 0; m < dump->state.memories.size(); ++m)
    for (std::size_t s = 0; s < dump->state.memories[m].streams.size(); ++s) {
      const Stream& stream = dump->state.memories[m].streams[s];
      const Table with_data{stream.cells, 0, cell_tokens(*dump, stream)};
      const Table without{stream.beyond, stream.cells.size()};
      for (const Table& table : {with_data, without})
        for (std::size_t c = 0; c < table.cells.size(); ++c) {
          if (!wanted(table.cells, c)) continue;
          const auto token = c < table.tokens.size() ? table.tokens[c] : std::nullopt;
          const Row row{m, s, c, table.first + c, table.cells, token};
          options.json ? print_json(row, out) : print_tsv(row, out);
        }
    }
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_cells(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  add_filter(verb, options->filter);
  verb.add_flag("--json", options->json, "print a JSON object a line");
  verb.add_flag("--tsv", options->tsv, "print tab-separated columns (the default)")
      ->excludes("--json");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
