#include "cli/stats_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "cli/tensor_name.h"
#include "kvtool/vocab.h"

namespace kvtool::cli {
namespace {

constexpr std::size_t svg_columns = 512;  // longer streams share columns
constexpr int row_height = 12;
constexpr int label_width = 150;
constexpr int scale_width = 110;
constexpr std::size_t most_in_legend = 8;

constexpr const char* not_finite_color = "#dd0000";

// `columns` means over equal stretches of the values; NaN where one of them is.
std::vector<double> binned(const std::vector<double>& values, std::size_t columns) {
  const std::size_t count = std::min(columns, values.size());
  std::vector<double> bins(count);
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t begin = b * values.size() / count;
    const std::size_t end = (b + 1) * values.size() / count;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    bins[b] = sum / static_cast<double>(end - begin);
  }
  return bins;
}

// Smallest and largest of those that are finite.
std::pair<double, double> range_of(const std::vector<double>& values) {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  for (const double v : values) {
    if (std::isnan(v)) continue;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  return {least, most};
}

// Values to the range 0 to 1; NaN stays what it is.
std::vector<double> scaled(std::vector<double> values) {
  const auto [low, most] = range_of(values);
  const double range = most - low;
  for (double& v : values) v = range > 0 || std::isnan(v) ? (v - low) / range : 0.5;
  return values;
}

std::string tensor_name(const Dump& dump, const TensorStats& s) {
  return fmt::format("memory {} stream {} layer {} {}", s.memory, s.stream, s.layer,
                     part_letter(dump, s.memory, s.is_v));
}

std::string shade(double level, bool color) {
  static constexpr std::array<const char*, 8> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"};
  if (std::isnan(level)) return color ? "\x1b[41m!\x1b[0m" : "!";
  const auto step = static_cast<std::size_t>(std::min(7.0, std::floor(level * 8)));
  if (!color) return blocks[step];
  return fmt::format("\x1b[48;5;{}m \x1b[0m", 232 + static_cast<int>(level * 23));
}

// Eight colours that are told apart easily; sequences beyond that repeat them.
std::string color_of(SequenceId id) {
  static constexpr std::array<const char*, 8> colors = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                                        "#66ccee", "#aa3377", "#ee8866", "#777777"};
  return colors[static_cast<std::size_t>(id) % colors.size()];
}

constexpr const char* shared_color = "#222222";

std::string sequence_color(std::span<const SequenceId> ids) {
  if (ids.size() > 1) return shared_color;
  return color_of(ids.empty() ? 0 : ids.front());
}

// Names of files can hold anything; XML cannot.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : visible(text)) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else out += c;
  }
  return out;
}

// Collects the elements of a picture from top to bottom: labels, boxes, what their scale is.
class Svg {
 public:
  void label(const std::string& text) { write(label_width - 6, "end", text); }
  void scale(const std::string& text) {
    write(label_width + static_cast<int>(svg_columns) + 6, "start", text);
  }
  void title(const std::string& text) {
    y_ += row_height;
    body_ += fmt::format("<text x=\"6\" y=\"{}\" font-weight=\"bold\">{}</text>\n", y_ + 2,
                         escaped(text));
    y_ += row_height;
  }
  void box(std::size_t column, std::size_t columns, const std::string& fill) {
    const double width = static_cast<double>(svg_columns) / static_cast<double>(columns);
    rectangle(label_width + static_cast<double>(column) * width, width + 0.05, fill);
  }
  // One entry of a legend, `place` of which stand beside each other.
  void legend(std::size_t place, const std::string& fill, const std::string& text) {
    const int x = label_width + static_cast<int>(place) * 70;
    rectangle(x, row_height - 2, fill);
    write(x + row_height + 2, "start", text);
  }
  void next_row() { y_ += row_height; }
  std::string finish() const {
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"10\">\n"
                       "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{2}</svg>\n",
                       label_width + static_cast<int>(svg_columns) + scale_width, y_ + row_height,
                       body_);
  }

 private:
  void write(int x, const char* anchor, const std::string& text) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x,
                         y_ + row_height - 3, anchor, escaped(text));
  }
  void rectangle(double x, double width, const std::string& fill) {
    body_ +=
        fmt::format("<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>\n", x,
                    y_, width, row_height - 1, fill);
  }

  int y_ = 0;
  std::string body_;
};

void draw_cells_of(Svg& svg, const CellTable& cells) {
  const std::size_t columns = std::min(svg_columns, cells.size());
  for (std::size_t c = 0; c < columns; ++c)
    svg.box(c, columns, sequence_color(cells.sequences(c * cells.size() / columns)));
}

// The lightest is still no paper.
std::string heat_color(double level) {
  if (std::isnan(level)) return not_finite_color;
  const auto channel = [&](double from, double to) {
    return static_cast<int>(from + (to - from) * level);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(222, 8), channel(235, 48), channel(247, 107));
}

std::string range_text(const TensorStats& s) {
  const auto [least, most] = range_of(s.cell_rms);
  if (least > most) return "nothing finite";
  return least == most ? fmt::format("{:.3g}", least)
                       : fmt::format("{:.3g} to {:.3g}", least, most);
}

bool any_not_finite(const std::vector<TensorStats>& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const TensorStats& s) { return s.nan + s.infinite > 0; });
}

// A stream of a dump by its memory's role, and by its number where there are several.
std::string stream_name(const Dump& dump, std::size_t memory, std::size_t stream) {
  const Memory& m = dump.state.memories[memory];
  return m.streams.size() == 1 ? m.role : fmt::format("{} stream {}", m.role, stream);
}

void draw_legend(Svg& svg, const Dump& dump) {
  std::set<SequenceId> ids;
  bool shared = false;
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.cells.size(); ++c) {
        const auto of_cell = stream.cells.sequences(c);
        ids.insert(of_cell.begin(), of_cell.end());
        shared = shared || of_cell.size() > 1;
      }
  std::size_t place = 0;
  for (const SequenceId id : ids)
    if (place < most_in_legend - 1) svg.legend(place++, color_of(id), fmt::format("seq {}", id));
  if (shared) svg.legend(place, shared_color, "shared");
  if (!ids.empty()) svg.next_row();
}

void draw_cells(Svg& svg, const Dump& dump) {
  svg.title("cells in file order, by sequence");
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::size_t s = 0; s < dump.state.memories[m].streams.size(); ++s) {
      const CellTable& cells = dump.state.memories[m].streams[s].cells;
      if (cells.empty()) continue;
      svg.label(stream_name(dump, m, s));
      draw_cells_of(svg, cells);
      svg.scale(counted(cells.size(), "cell"));
      svg.next_row();
    }
  draw_legend(svg, dump);
}

}  // namespace

void draw_heat(const Dump& dump, const std::vector<TensorStats>& list, unsigned width, bool color,
               Printer& out) {
  for (const TensorStats& s : list) {
    const auto levels = scaled(binned(s.cell_rms, width));
    std::string line;
    for (const double level : levels) line += shade(level, color);
    out.line("{:<30} {}{}  {}", tensor_name(dump, s), line, std::string(width - levels.size(), ' '),
             range_text(s));
  }
  out.line(
      "from left to right: rms of each cell in file order, within its own smallest and largest{}",
      any_not_finite(list) ? "; !: NaN or Inf" : "");
}

std::string svg_of(const Dump& dump, const std::vector<TensorStats>& list) {
  Svg svg;
  svg.title(std::filesystem::path(dump.source->name()).filename().string());
  draw_cells(svg, dump);
  svg.title(fmt::format("rms of each cell, darker is larger, each row on its own scale{}",
                        any_not_finite(list) ? "; red: NaN or Inf" : ""));
  for (const TensorStats& s : list) {
    svg.label(fmt::format("{} layer {} {}", stream_name(dump, s.memory, s.stream), s.layer,
                          part_letter(dump, s.memory, s.is_v)));
    const auto levels = scaled(binned(s.cell_rms, svg_columns));
    for (std::size_t c = 0; c < levels.size(); ++c)
      svg.box(c, levels.size(), heat_color(levels[c]));
    svg.scale(range_text(s));
    svg.next_row();
  }
  return svg.finish();
}

}  // namespace kvtool::cli
