// map: a label for every byte, or a picture of the cells.
#include "cli/cell_picture.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/map.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  bool json = false;
  bool tsv = false;
  bool fields = false;
  bool cells = false;
  unsigned width = 64;
  std::string color = "auto";
};

void print_json(const Dump& dump, const std::vector<MapRange>& ranges, Printer& out) {
  Json json = json_document(dump.source->name());
  json["size"] = dump.source->size();
  json["layout"] = dump.layout;
  json["ranges"] = Json::array();
  for (const MapRange& range : ranges)
    json["ranges"].push_back(
        {{"offset", range.offset}, {"size", range.size}, {"label", range.label}});
  out.json(json);
}

void print_table(const std::vector<MapRange>& ranges, const Options& options, Printer& out) {
  if (options.tsv) out.line("offset\tsize\tlabel");
  for (const MapRange& range : ranges)
    if (options.tsv)
      out.line("{}\t{}\t{}", range.offset, range.size, range.label);
    else
      out.line("{:#012x} {:>12} {}", range.offset, range.size, range.label);
}

int run(const Options& options) {
  const auto dump = open(options.input);
  Printer out;
  if (options.cells) {
    draw_cells(*dump, options.width, use_color(options.color), out);
  } else {
    const auto ranges = map_of(*dump, options.fields);
    options.json ? print_json(*dump, ranges, out) : print_table(ranges, options, out);
  }
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_map(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  auto* json = verb.add_flag("--json", options->json, "print JSON");
  auto* tsv = verb.add_flag("--tsv", options->tsv, "print tab-separated columns");
  auto* fields = verb.add_flag("--fields", options->fields, "label every field of every cell");
  auto* cells = verb.add_flag("--cells", options->cells, "draw the cells, a letter a sequence");
  verb.add_option("--width", options->width, "columns of the picture")
      ->check(CLI::Range(8, 1024))
      ->capture_default_str();
  add_color(verb, options->color);
  json->excludes(tsv)->excludes(cells);
  cells->excludes(tsv)->excludes(fields);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
