// What every verb that writes has in common: output options, the writing itself, the report.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/input.h"
#include "cli/print.h"
#include "kvtool/plan.h"
#include "kvtool/write.h"

namespace kvtool::cli {

struct RewriteOptions {
  InputOptions input;
  std::string output;
  bool in_place = false;
  bool force = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool no_progress = false;
};

// Declares -o, --in-place, --force, --dry-run, --json, -q, --no-progress; --in-place only where
// there is one FILE.
void add_output(CLI::App& verb, RewriteOptions& options, bool one_file);
// Declares FILE and its options, and -o, --in-place, --force, --dry-run, --json, -q, --no-progress.
void add_rewrite(CLI::App& verb, RewriteOptions& options);

// Which stream a verb works on.
struct StreamOptions {
  std::uint32_t memory = 0;
  std::uint32_t stream = 0;
};
void add_stream(CLI::App& verb, StreamOptions& options);

// Writes the plan's output, or with --dry-run only computes its size. Returns that size, bytes.
// Throws Error(usage) unless exactly one of -o and --in-place is given (--dry-run needs neither).
// What conversions lost is appended to `losses`, unless -q says that nobody will be told.
std::uint64_t write_output(const Plan& plan, const RewriteOptions& options,
                           std::vector<TensorLoss>* losses = nullptr);

// The figures of what conversions lost, for --json.
[[nodiscard]] Json json_of(const std::vector<TensorLoss>& losses);

// Tells what a user should know before relying on the output: on standard error, whatever becomes
// of the figures, and among them as "warnings".
void warn(const Plan& plan, const std::vector<std::string>& warnings, Json& figures);

// Figures of a rewrite: printed as JSON with --json, else as the given lines unless -q or the
// output itself goes to standard output.
void report(const Plan& plan, std::uint64_t size, const RewriteOptions& options,
            const Json& figures, const std::vector<std::string>& lines);

}  // namespace kvtool::cli
