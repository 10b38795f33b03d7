// Options that every verb which reads a dump has.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kvtool/dump.h"
#include "kvtool/facts.h"
#include "kvtool/open.h"

namespace kvtool::cli {

struct InputOptions {
  std::string file;
  std::string layout;
  std::string trailing = "refuse";
  std::string k_type;  // types of K and V in sessions that do not store them; empty: by content
  std::string v_type;
  std::string model;     // what tells the shape of a bare state of that time: a model,
  std::string like;      // another dump,
  std::string kv_shape;  // or numbers
};

// Declares FILE, --layout, --trailing, --k-type, --v-type, --model, --like and --kv-shape.
void add_input(CLI::App& verb, InputOptions& input);
// Only what old dumps do not store: --k-type, --v-type, --model, --like and --kv-shape.
void add_unstored(CLI::App& verb, InputOptions& input);
// For verbs that give one of these names more meaning: they take the input's option away, declare
// their own, and hand the text on.
void replace_option(CLI::App& verb, const std::string& name);
[[nodiscard]] std::function<void(std::string)> handing_on_to(std::string& of_input);
// Opens what they name. Throws Error.
[[nodiscard]] std::shared_ptr<const Dump> open(const InputOptions& input);

// True for a file that begins as a session or slot file does, whatever follows.
[[nodiscard]] bool looks_like_dump(const Source& source);

// Which cells a listing is about.
struct CellFilter {
  std::string sequence;   // a number; empty: all
  std::string positions;  // A:B, half-open, either side may be missing; empty: all
};
void add_filter(CLI::App& verb, CellFilter& filter);

// A sequence id given as text. Throws Error(usage).
[[nodiscard]] SequenceId parse_sequence(const std::string& text);
// Positions given as "A:B", half-open; either side may be missing. Throws Error(usage) for
// what is none, and for an empty range.
[[nodiscard]] PositionRange parse_positions(const std::string& text);
// Layers [A, B) given as "A:B", or the one layer "A". Throws Error(usage).
[[nodiscard]] std::pair<std::uint32_t, std::uint32_t> parse_layers(const std::string& text);

// A parsed filter. Throws Error(usage) for text that is none.
class CellPredicate {
 public:
  explicit CellPredicate(const CellFilter& filter);
  [[nodiscard]] bool operator()(const CellTable& cells, std::size_t cell) const;
  [[nodiscard]] std::optional<SequenceId> sequence() const { return sequence_; }
  // The positions [begin, end).
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  std::optional<SequenceId> sequence_;
  std::int64_t begin_;
  std::int64_t end_;
};

}  // namespace kvtool::cli
