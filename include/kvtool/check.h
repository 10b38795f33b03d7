// Is a dump sound? Findings in plain words, errors told apart from warnings.
#pragma once

#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

enum class Severity {
  note,     // worth knowing, nothing is wrong
  warning,  // a loader takes it, the user may not get what they expect
  error,    // a loader refuses, dies or answers wrongly
};

struct Finding {
  Severity severity = Severity::warning;
  std::string code;     // stable name for scripts, e.g. "empty_slot"
  std::string where;    // "memory 0 stream 0", "tokens", "checkpoint 2"; empty: the file
  std::string message;  // one sentence: what it is and what a user will meet
};

struct CheckOptions {
  bool deep = false;  // read all tensors: NaN, Inf, broken block scales, zero and repeated layers
};

// All findings, errors first, then in the order of the file. Throws Error(io) if tensors cannot be
// read; a file that no layout fits does not get this far (open_dump throws).
[[nodiscard]] std::vector<Finding> check(const Dump& dump, const CheckOptions& options = {});

[[nodiscard]] std::string name_of(Severity severity);

}  // namespace kvtool
