#include "cli/cell_picture.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "kvtool/facts.h"

namespace kvtool::cli {
namespace {

constexpr std::size_t most_lines = 16;  // of one stream; more cells share characters

// Letters and colours of the sequences of one stream, in order of their ids.
class Legend {
 public:
  Legend(const std::vector<SequenceFacts>& sequences, bool color) : color_(color) {
    for (const SequenceFacts& s : sequences) {
      const std::size_t number = numbers_.size();
      numbers_[s.id] = number;
    }
  }

  // The letter of a sequence; beyond z they repeat.
  [[nodiscard]] char letter(std::optional<SequenceId> id) const {
    return static_cast<char>('a' + number(id) % 26);
  }
  [[nodiscard]] std::string paint(std::optional<SequenceId> id, const std::string& text) const {
    if (!color_) return text;
    return fmt::format("\x1b[{}m{}\x1b[0m", 31 + number(id) % 6, text);
  }

 private:
  [[nodiscard]] std::size_t number(std::optional<SequenceId> id) const {
    const auto at = numbers_.find(id);
    return at == numbers_.end() ? 0 : at->second;
  }

  std::map<std::optional<SequenceId>, std::size_t> numbers_;
  bool color_;
};

std::optional<SequenceId> first_sequence(const CellTable& cells, std::size_t cell) {
  const auto ids = cells.sequences(cell);
  if (ids.empty()) return std::nullopt;
  return *std::min_element(ids.begin(), ids.end());
}

std::string symbol(const CellTable& cells, std::size_t cell, bool one_sequence,
                   const Legend& legend) {
  const std::size_t ids = cells.sequences(cell).size();
  if (ids == 0 && !one_sequence) return "-";
  const auto id = first_sequence(cells, cell);
  const char letter = legend.letter(id);
  const char shown = ids > 1 ? static_cast<char>(letter - 'a' + 'A') : letter;
  return legend.paint(id, std::string(1, shown));
}

void draw_in_file_order(const CellTable& cells, bool one_sequence, const Legend& legend,
                        unsigned width, Printer& out) {
  const std::size_t step = 1 + (cells.size() - 1) / (most_lines * width);
  if (step > 1) out.line("  (each character stands for {} cells)", step);
  for (std::size_t line = 0; line < cells.size(); line += step * width) {
    std::string text;
    for (std::size_t c = line; c < std::min(cells.size(), line + step * width); c += step)
      text += symbol(cells, c, one_sequence, legend);
    out.line("  {:>8} {}", line, text);
  }
}

// How a stretch of positions of a sequence is held: not at all, alone, or with others.
class PositionStrip {
 public:
  PositionStrip(const SequenceFacts& facts, unsigned width)
      : begin_(facts.pos_min),
        step_(1 + (std::int64_t{facts.pos_max} - facts.pos_min) / width),
        marks_(static_cast<std::size_t>((std::int64_t{facts.pos_max} - begin_) / step_ + 1), '.') {}

  void mark(const CellTable& cells, std::size_t cell, char letter) {
    const char shown = cells.sequences(cell).size() > 1 ? static_cast<char>(letter - 'a' + 'A')
                                                        : letter;
    marks_[static_cast<std::size_t>((std::int64_t{cells.position(cell)} - begin_) / step_)] = shown;
  }
  [[nodiscard]] const std::string& text() const { return marks_; }

 private:
  std::int64_t begin_;
  std::int64_t step_;
  std::string marks_;
};

bool belongs(const CellTable& cells, std::size_t cell, std::optional<SequenceId> id) {
  const auto ids = cells.sequences(cell);
  return id ? std::find(ids.begin(), ids.end(), *id) != ids.end() : ids.empty();
}

void draw_by_position(const CellTable& cells, const SequenceFacts& facts, const Legend& legend,
                      unsigned width, Printer& out) {
  PositionStrip strip(facts, width);
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (belongs(cells, c, facts.id)) strip.mark(cells, c, legend.letter(facts.id));
  const std::string name = facts.id ? fmt::format("sequence {}", *facts.id) : "the sequence";
  out.line("  {} = {}, positions {} to {}:", legend.letter(facts.id), name, facts.pos_min,
           facts.pos_max);
  out.line("  {:>8} {}", "", legend.paint(facts.id, strip.text()));
}

void draw_stream(const Stream& stream, bool one_sequence, unsigned width, bool color,
                 Printer& out) {
  if (stream.cells.empty()) return out.line("  (no cells)");
  const auto sequences = sequences_of(stream, one_sequence);
  const Legend legend(sequences, color);
  draw_in_file_order(stream.cells, one_sequence, legend, width, out);
  for (const SequenceFacts& facts : sequences)
    draw_by_position(stream.cells, facts, legend, width, out);
}

}  // namespace

void add_color(CLI::App& verb, std::string& color) {
  verb.add_option("--color", color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
}

bool use_color(const std::string& color) {
  if (color != "auto") return color == "always";
  return std::getenv("NO_COLOR") == nullptr && ::isatty(STDOUT_FILENO) != 0;
}

void draw_cells(const Dump& dump, unsigned width, bool color, Printer& out) {
  const bool one_sequence = holds_one_sequence(dump);
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m) {
    const Memory& memory = dump.state.memories[m];
    for (std::size_t s = 0; s < memory.streams.size(); ++s) {
      out.line("memory {} ({}), stream {}: {}", m, memory.role, s,
               counted(memory.streams[s].cells.size(), "cell"));
      draw_stream(memory.streams[s], one_sequence, width, color, out);
    }
  }
  out.line("a letter is a cell of one sequence, a capital one shared by several, - one of none,");
  out.line(". a position without a cell");
}

}  // namespace kvtool::cli
