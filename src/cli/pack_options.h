// What pack and unpack have in common: where to write, with how many threads, and what to say.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cli/print.h"
#include "cli/progress.h"
#include "kvtool/source.h"
#include "kvtool/write.h"

namespace kvtool::cli {

struct PackingOptions {
  std::string file;
  std::string output;
  unsigned threads = 0;  // 0: one for each core
  bool force = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool no_progress = false;
};

// Declares -o, -T, --force, --json, -q and --no-progress.
void add_packing(CLI::App& verb, PackingOptions& options);
// As given, or as many as there are cores.
[[nodiscard]] unsigned threads_of(const PackingOptions& options);

// Runs `produce(sink, progress)` into the output, which appears if it succeeds; with --dry-run what
// it writes is only counted. Returns the bytes written. Throws Error(usage) without an output.
using Producer = std::function<void(Sink& sink, Progress& progress)>;
std::uint64_t produce_output(const PackingOptions& options, const Source& source,
                             const Producer& produce);

// Whether a report has a place to go: not beside the output on standard output.
[[nodiscard]] bool reports(const PackingOptions& options);
// The first fields of the report as JSON.
[[nodiscard]] Json packing_json(const PackingOptions& options, const Source& source);

}  // namespace kvtool::cli
