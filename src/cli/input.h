// Options that every verb which reads a dump has.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "kvtool/dump.h"
#include "kvtool/open.h"

namespace kvtool::cli {

struct InputOptions {
  std::string file;
  std::string layout;
  std::string trailing = "refuse";
};

// Declares FILE, --layout and --trailing.
void add_input(CLI::App& verb, InputOptions& input);
// Opens what they name. Throws Error.
[[nodiscard]] std::shared_ptr<const Dump> open(const InputOptions& input);

// Which cells a listing is about.
struct CellFilter {
  std::string sequence;   // a number; empty: all
  std::string positions;  // A:B, half-open, either side may be missing; empty: all
};
void add_filter(CLI::App& verb, CellFilter& filter);

// A parsed filter. Throws Error(usage) for text that is none.
class CellPredicate {
 public:
  explicit CellPredicate(const CellFilter& filter);
  [[nodiscard]] bool operator()(const CellTable& cells, std::size_t cell) const;

 private:
  std::optional<SequenceId> sequence_;
  std::int64_t begin_;
  std::int64_t end_;
};

}  // namespace kvtool::cli
