// The part of `check` that is about one loader.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/print.h"
#include "cli/target_options.h"
#include "kvtool/check.h"
#include "kvtool/restore.h"

namespace kvtool::cli {

// What is foretold of a file, with the name of the loader it is foretold for.
struct Forecast {
  std::string loader;
  Restore restore;
  [[nodiscard]] bool good() const {
    return restore.outcome == Outcome::loads && restore.next != Aftermath::wrong_text &&
           restore.next != Aftermath::dies;
  }
};

// `dump` may be null, for files that no layout fits. Throws Error.
[[nodiscard]] Forecast forecast(const Source& file, const Dump* dump, const TargetOptions& options);

// Findings of the forecast that are not among `known`.
void add_findings(const Forecast& forecast, std::vector<Finding>& known);

// Reasons, what could not be compared, and the verdict; the last line is left to the caller.
void print_text(const Forecast& forecast, Printer& out);
[[nodiscard]] Json forecast_json(const Forecast& forecast);
// "loads; the next prompt goes on from it" and the like.
[[nodiscard]] std::string verdict(const Forecast& forecast);

}  // namespace kvtool::cli
