// stats: figures of the values, tensor by tensor, and pictures of them.
#include <algorithm>

#include "cli/cell_picture.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/stats_picture.h"
#include "cli/tensor_name.h"
#include "cli/verb.h"
#include "kvtool/output.h"
#include "kvtool/stats.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  bool json = false;
  bool tsv = false;
  bool heat = false;
  std::string svg;
  bool force = false;
  unsigned width = 64;
  std::string color = "auto";
};

const char* part(const TensorStats& s) { return s.is_v ? "v" : "k"; }

Json stats_json(const TensorStats& s) {
  Json json = {{"memory", s.memory},
               {"stream", s.stream},
               {"layer", s.layer},
               {"part", part(s)},
               {"type", std::string(info(s.type).name)},
               {"cells", s.cells},
               {"missing_cells", s.missing_cells},
               {"width", s.width},
               {"min", s.min},
               {"max", s.max},
               {"mean", s.mean},
               {"rms", s.rms},
               {"nan", s.nan},
               {"inf", s.infinite},
               {"zero_cells", s.zero_cells},
               {"repeated_cells", s.repeated_cells},
               {"outliers", Json::array()}};
  for (const OutlierChannel& o : s.outliers)
    json["outliers"].push_back(
        {{"channel", o.channel}, {"rms", o.rms}, {"times_median", o.times_median}});
  return json;
}

void print_json(const Dump& dump, const std::vector<TensorStats>& list, Printer& out) {
  Json json = json_document(dump.source->name());
  json["layout"] = dump.layout;
  json["tensors"] = Json::array();
  for (const TensorStats& s : list) json["tensors"].push_back(stats_json(s));
  out.json(json);
}

void print_tsv(const std::vector<TensorStats>& list, Printer& out) {
  out.line("memory\tstream\tlayer\tpart\ttype\tcells\twidth\tmin\tmax\tmean\trms\tnan\tinf\t"
           "zero_cells\trepeated_cells\toutliers");
  for (const TensorStats& s : list)
    out.line("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", s.memory, s.stream,
             s.layer, part(s), info(s.type).name, s.cells, s.width, s.min, s.max, s.mean, s.rms,
             s.nan, s.infinite, s.zero_cells, s.repeated_cells, s.outliers.size());
}

// What is worth a second look, after the figures of a tensor.
std::string remarks(const TensorStats& s) {
  std::string text;
  auto add = [&](std::uint64_t n, const std::string& what) {
    if (n > 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  add(s.missing_cells, counted(s.missing_cells, "cell") + " not in the file");
  add(s.nan, fmt::format("{} NaN", s.nan));
  add(s.infinite, fmt::format("{} Inf", s.infinite));
  add(s.zero_cells, counted(s.zero_cells, "zero cell"));
  add(s.repeated_cells, counted(s.repeated_cells, "repeated cell"));
  for (const OutlierChannel& o : s.outliers)
    text +=
        fmt::format("{}channel {} at {:.0f}x", text.empty() ? "" : ", ", o.channel, o.times_median);
  return text;
}

void print_text(const Dump& dump, const std::vector<TensorStats>& list, Printer& out) {
  out.line("{:<26}{:>10}{:>10}{:>10}{:>10}  {}", "tensor", "min", "max", "mean", "rms", "remarks");
  for (const TensorStats& s : list) {
    const std::string name = fmt::format("memory {}{} layer {} {}", s.memory,
                                         s.stream == 0 ? "" : fmt::format(" stream {}", s.stream),
                                         s.layer, part_letter(dump, s.memory, s.is_v));
    const std::string text = remarks(s);
    out.line("{:<26}{:>10.4g}{:>10.4g}{:>10.2g}{:>10.4g}{}{}", name, s.min, s.max, s.mean, s.rms,
             text.empty() ? "" : "  ", text);
  }
}

void write_svg(const Options& o, const std::string& svg) {
  OutputOptions how;
  how.overwrite = o.force;
  how.mode = 0644;
  const auto output = open_output(o.svg, how);
  output->write(std::as_bytes(std::span(svg)));
  output->commit();
}

int run(const Options& o) {
  const auto dump = open(o.input);
  StatsOptions options;
  options.cell_rms = o.heat || !o.svg.empty();
  const auto list = stats_of(*dump, options);
  Printer out;
  if (o.json)
    print_json(*dump, list, out);
  else if (o.tsv)
    print_tsv(list, out);
  else if (o.heat)
    draw_heat(*dump, list, o.width, use_color(o.color), out);
  else if (o.svg.empty())
    print_text(*dump, list, out);
  if (!o.svg.empty()) write_svg(o, svg_of(*dump, list));
  out.finish();
  return exit_fine;
}

}  // namespace

Action add_stats(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  auto* json = verb.add_flag("--json", options->json, "print JSON");
  auto* tsv = verb.add_flag("--tsv", options->tsv, "print tab-separated columns");
  auto* heat =
      verb.add_flag("--heat", options->heat, "draw the rms of every layer along the cells");
  verb.add_option("--svg", options->svg, "write a picture of cells and layers")->type_name("OUT");
  verb.add_flag("--force", options->force, "replace OUT if it exists");
  verb.add_option("--width", options->width, "columns of the drawing")
      ->check(CLI::Range(8, 1024))
      ->capture_default_str();
  add_color(verb, options->color);
  json->excludes(tsv)->excludes(heat);
  tsv->excludes(heat);
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
