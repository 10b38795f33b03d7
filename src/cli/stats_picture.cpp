#include "cli/stats_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvtool::cli {
namespace {

constexpr std::size_t svg_columns = 512;  // longer streams share columns
constexpr int row_height = 10;
constexpr int label_width = 190;

// `columns` means over equal stretches of the values.
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

// Values to the range 0 to 1.
std::vector<double> scaled(std::vector<double> values) {
  if (values.empty()) return values;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double range = *most - low;
  for (double& v : values) v = range > 0 ? (v - low) / range : 0;
  return values;
}

std::string tensor_name(const TensorStats& s) {
  return fmt::format("memory {} stream {} layer {} {}", s.memory, s.stream, s.layer,
                     s.is_v ? "V" : "K");
}

std::string shade(double level, bool color) {
  static constexpr std::array<const char*, 8> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"};
  const auto step = static_cast<std::size_t>(std::min(7.0, std::floor(level * 8)));
  if (!color) return blocks[step];
  return fmt::format("\x1b[48;5;{}m \x1b[0m", 232 + static_cast<int>(level * 23));
}

// Eight colours that are told apart easily; sequences beyond that repeat them.
std::string sequence_color(std::span<const SequenceId> ids) {
  static constexpr std::array<const char*, 8> colors = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                                        "#66ccee", "#aa3377", "#ee8866", "#777777"};
  if (ids.size() > 1) return "#222222";
  const SequenceId id = ids.empty() ? 0 : ids.front();
  return colors[static_cast<std::size_t>(id) % colors.size()];
}

// Collects the elements of a picture from top to bottom.
class Svg {
 public:
  void label(const std::string& text) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", label_width - 6,
                         y_ + row_height - 2, text);
  }
  void title(const std::string& text) {
    y_ += row_height;
    body_ += fmt::format("<text x=\"4\" y=\"{}\" font-weight=\"bold\">{}</text>\n", y_ + 2, text);
    y_ += row_height;
  }
  void box(std::size_t column, std::size_t columns, const std::string& fill) {
    const double width = static_cast<double>(svg_columns) / static_cast<double>(columns);
    body_ += fmt::format("<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>\n",
                         label_width + static_cast<double>(column) * width, y_, width + 0.05,
                         row_height - 1, fill);
  }
  void next_row() { y_ += row_height; }
  std::string finish() const {
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"9\">\n"
                       "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{2}</svg>\n",
                       label_width + svg_columns + 10, y_ + 2 * row_height, body_);
  }

 private:
  int y_ = 0;
  std::string body_;
};

void draw_cells_of(Svg& svg, const CellTable& cells) {
  const std::size_t columns = std::min(svg_columns, cells.size());
  for (std::size_t c = 0; c < columns; ++c)
    svg.box(c, columns, sequence_color(cells.sequences(c * cells.size() / columns)));
}

std::string heat_color(double level) {
  const auto channel = [&](double from, double to) {
    return static_cast<int>(from + (to - from) * level);
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(247, 8), channel(251, 48), channel(255, 107));
}

}  // namespace

void draw_heat(const std::vector<TensorStats>& list, unsigned width, bool color, Printer& out) {
  for (const TensorStats& s : list) {
    std::string line;
    for (const double level : scaled(binned(s.cell_rms, width))) line += shade(level, color);
    const auto [least, most] = std::minmax_element(s.cell_rms.begin(), s.cell_rms.end());
    out.line("{:<30} {}  {:.3g} to {:.3g}", tensor_name(s), line, *least, *most);
  }
  out.line("from left to right: rms of each cell in file order, within its own smallest and largest");
}

std::string svg_of(const Dump& dump, const std::vector<TensorStats>& list) {
  Svg svg;
  svg.title("cells in file order; one colour a sequence, black: shared");
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::size_t s = 0; s < dump.state.memories[m].streams.size(); ++s) {
      svg.label(fmt::format("memory {} stream {}", m, s));
      draw_cells_of(svg, dump.state.memories[m].streams[s].cells);
      svg.next_row();
    }
  svg.title("rms of each cell, darker is larger; every tensor on its own scale");
  for (const TensorStats& s : list) {
    svg.label(fmt::format("{}  {:.3g}", tensor_name(s), s.rms));
    const auto levels = scaled(binned(s.cell_rms, svg_columns));
    for (std::size_t c = 0; c < levels.size(); ++c) svg.box(c, levels.size(), heat_color(levels[c]));
    svg.next_row();
  }
  return svg.finish();
}

}  // namespace kvtool::cli
