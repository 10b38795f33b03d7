// check: is the dump sound?
#include "cli/input.h"
#include "cli/inspect_json.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/check.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  bool json = false;
  bool quiet = false;
  bool strict = false;
  bool deep = false;
};

struct Counts {
  std::size_t errors = 0;
  std::size_t warnings = 0;
};

Counts count(const std::vector<Finding>& findings) {
  Counts counts;
  for (const Finding& finding : findings) {
    counts.errors += finding.severity == Severity::error ? 1U : 0U;
    counts.warnings += finding.severity == Severity::warning ? 1U : 0U;
  }
  return counts;
}

// The verdict in words; a dump can be sound and still fail a strict check.
const char* verdict(const Counts& counts, bool passed) {
  if (counts.errors > 0) return "not sound";
  return passed ? "sound" : "sound, but not without warnings";
}

void print_text(const Dump& dump, const std::vector<Finding>& findings, const Counts& counts,
                bool passed, Printer& out) {
  for (const Finding& f : findings)
    out.line("{}: {}{}{} [{}]", name_of(f.severity), f.where, f.where.empty() ? "" : ": ",
             f.message, f.code);
  out.line("{}: {}, {}, {}", dump.source->name(), verdict(counts, passed),
           counted(counts.errors, "error"), counted(counts.warnings, "warning"));
}

void print_json(const Dump& dump, const std::vector<Finding>& findings, const Counts& counts,
                bool passed, Printer& out) {
  Json json = json_document(dump.source->name());
  json["layout"] = dump.layout;
  json["passed"] = passed;
  json["errors"] = counts.errors;
  json["warnings"] = counts.warnings;
  json["findings"] = Json::array();
  for (const Finding& finding : findings) json["findings"].push_back(finding_json(finding));
  out.json(json);
}

int run(const Options& options) {
  const auto dump = open(options.input);
  const std::vector<Finding> findings = check(*dump, {options.deep});
  const Counts counts = count(findings);
  const bool passed = counts.errors == 0 && (!options.strict || counts.warnings == 0);
  Printer out;
  if (options.json)
    print_json(*dump, findings, counts, passed, out);
  else if (!options.quiet)
    print_text(*dump, findings, counts, passed, out);
  out.finish();
  return passed ? exit_fine : exit_differs;
}

}  // namespace

Action add_check(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  verb.add_flag("--deep", options->deep, "read all tensors: NaN, Inf, zero and repeated layers");
  verb.add_flag("--strict", options->strict, "let warnings fail the check");
  verb.add_flag("-q,--quiet", options->quiet, "print nothing; the exit status tells");
  verb.add_flag("--json", options->json, "print JSON");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
