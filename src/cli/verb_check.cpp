// check: is the dump sound, and will it load there?
#include <algorithm>

#include "cli/check_target.h"
#include "cli/input.h"
#include "cli/inspect_json.h"
#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/check.h"
#include "kvtool/error.h"

namespace kvtool::cli {
namespace {

struct Options {
  InputOptions input;
  TargetOptions target;
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

// Every file earns this one, so it would make a strict check of no use.
bool tells_files_apart(const Finding& finding) { return finding.code != "model_unknown"; }

bool is_clean(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.severity != Severity::note && tells_files_apart(f);
  });
}

// The verdict in words; a dump can be sound and still fail a strict check.
const char* verdict(const Counts& counts, bool passed) {
  if (counts.errors > 0) return "not sound";
  return passed ? "sound" : "sound, but not without warnings";
}

// All that is known about a file in the end.
struct Report {
  std::string file;
  std::shared_ptr<const Dump> dump;  // null: no layout fits
  std::vector<Finding> findings;
  std::optional<Forecast> forecast;  // with a target
  Counts counts;
  bool passed = false;
};

// A file that no layout fits can still be shown to a simulated loader, if the target says of itself
// what its caches are like.
std::shared_ptr<const Dump> open_for(const Options& options) {
  try {
    return open(options.input);
  } catch (const Error& error) {
    const bool known = !options.target.model.empty() || !options.target.like.empty();
    if (!known || error.kind() != ErrorKind::damaged) throw;
    return nullptr;
  }
}

// A bare state of before August 2024 needs sizes to be read, and no loader is meant by what tells them.
bool names_loader(const TargetOptions& target, const Source& source) {
  TargetOptions others = target;
  others.model.clear();
  others.like.clear();
  return needs_bare_shape(source) ? others.any() : target.any();
}

Report make_report(const Options& options) {
  Report report;
  report.dump = open_for(options);
  const auto source = report.dump ? report.dump->source : open_source(options.input.file);
  report.file = source->name();
  if (report.dump) report.findings = check(*report.dump, {options.deep});
  if (names_loader(options.target, *source)) {
    report.forecast = forecast(*source, report.dump.get(), options.target);
    add_findings(*report.forecast, report.findings);
  }
  report.counts = count(report.findings);
  report.passed = report.counts.errors == 0 && (!options.strict || is_clean(report.findings)) &&
                  (!report.forecast || report.forecast->good());
  return report;
}

void print_text(const Report& report, Printer& out) {
  if (report.forecast) print_text(*report.forecast, out);
  for (const Finding& f : report.findings)
    out.line("{}: {}{}{} [{}]", name_of(f.severity), f.where, f.where.empty() ? "" : ": ",
             f.message, f.code);
  const char* state =
      report.dump ? verdict(report.counts, report.passed || report.forecast) : "no layout fits";
  out.line("{}: {}, {}, {}", report.file, state, counted(report.counts.errors, "error"),
           counted(report.counts.warnings, "warning"));
  if (report.forecast) out.line("{}: {}", report.file, verdict(*report.forecast));
}

void print_json(const Report& report, Printer& out) {
  Json json = json_document(report.file);
  json["layout"] = report.dump ? Json(report.dump->layout) : Json(nullptr);
  json["passed"] = report.passed;
  json["errors"] = report.counts.errors;
  json["warnings"] = report.counts.warnings;
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) json["findings"].push_back(finding_json(finding));
  if (report.forecast) json["target"] = forecast_json(*report.forecast);
  out.json(json);
}

int run(const Options& options) {
  const Report report = make_report(options);
  Printer out;
  if (options.json)
    print_json(report, out);
  else if (!options.quiet)
    print_text(report, out);
  out.finish();
  return report.passed ? exit_fine : exit_differs;
}

}  // namespace

Action add_check(CLI::App& verb) {
  auto options = std::make_shared<Options>();
  add_input(verb, options->input);
  add_target(verb, options->target, options->input);
  verb.add_flag("--deep", options->deep, "read all tensors: NaN, Inf, zero and repeated layers");
  verb.add_flag("--strict", options->strict, "let warnings fail the check, but for model_unknown");
  verb.add_flag("-q,--quiet", options->quiet, "print nothing; the exit status tells");
  verb.add_flag("--json", options->json, "print JSON");
  return [options] { return run(*options); };
}

}  // namespace kvtool::cli
