// Where the parts of `check` leave what they find.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kvtool/check.h"

namespace kvtool {

class Findings {
 public:
  void error(std::string code, std::string where, std::string message) {
    add(Severity::error, std::move(code), std::move(where), std::move(message));
  }
  void warning(std::string code, std::string where, std::string message) {
    add(Severity::warning, std::move(code), std::move(where), std::move(message));
  }
  void note(std::string code, std::string where, std::string message) {
    add(Severity::note, std::move(code), std::move(where), std::move(message));
  }
  std::vector<Finding> take() { return std::move(list_); }

 private:
  void add(Severity severity, std::string code, std::string where, std::string message) {
    list_.push_back({severity, std::move(code), std::move(where), std::move(message)});
  }

  std::vector<Finding> list_;
};

// Cells of every attention memory: positions, ids, holes.
void check_cells(const Dump& dump, Findings& findings);
// Cells whose rows the file does not have whole.
void check_rows(const Dump& dump, Findings& findings);
// The token list against the cells.
void check_tokens(const Dump& dump, Findings& findings);
// Checkpoints, draft state and what else stands behind a slot's state.
void check_tail(const Dump& dump, Findings& findings);
// Whether the K of quantized caches looks rotated.
void check_rotation(const Dump& dump, Findings& findings);
// The values of every tensor.
void check_values(const Dump& dump, Findings& findings);

}  // namespace kvtool
