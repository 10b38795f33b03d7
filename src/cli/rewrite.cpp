#include "cli/rewrite.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>

#include "cli/companions.h"
#include "cli/progress.h"
#include "kvtool/error.h"
#include "kvtool/output.h"
#include "kvtool/pack.h"
#include "kvtool/write.h"

namespace kvtool::cli {
namespace {

void require_destination(const RewriteOptions& options, const Source& source) {
  const bool named = !options.output.empty();
  if (named && options.in_place)
    throw Error(ErrorKind::usage, "-o and --in-place exclude each other");
  if (!named && !options.in_place && !options.dry_run)
    throw Error(ErrorKind::usage, "where to? give -o OUT or --in-place");
  if (options.in_place && options.input.file == "-")
    throw Error(ErrorKind::usage, "standard input cannot be rewritten in place");
  std::error_code ignored;
  if (options.in_place && !std::filesystem::is_regular_file(options.input.file, ignored))
    throw Error(ErrorKind::usage, "is no regular file; give -o OUT").in_file(options.input.file);
  if (options.in_place && packing_of(source))
    throw Error(ErrorKind::refused, "is compressed and would not be afterwards; give -o OUT")
        .in_file(options.input.file);
}

// ik_llama.cpp's server looks for files beside the one that it restores. Those of the source, as far
// as the output is for that server.
std::vector<std::string> companions_of(const Plan& plan) {
  if (plan.target.dialect.family != Family::ik_llama) return {};
  return cli::companions_of(*plan.sources.front());
}

// What is in them is about the ids.
bool fits_companions(const Plan& plan) {
  return plan.target.tokens.words == plan.sources.front()->tokens.words;
}

void tell_companions(const Plan& plan, bool in_place, Printer& out) {
  const bool fits = fits_companions(plan);
  if (in_place && fits) return;
  for (const std::string& path : companions_of(plan))
    out.line("{} belongs to the source: {}", path,
             fits ? "the output needs a copy of it under its own name"
                  : "it does not go with the output, which has other ids");
}

void add_companions(const Plan& plan, Json& json) {
  const std::vector<std::string> paths = companions_of(plan);
  if (paths.empty()) return;
  json["companions"] = Json::array();
  for (const std::string& path : paths)
    json["companions"].push_back({{"path", path}, {"fits", fits_companions(plan)}});
}

const Source& source_of(const Plan& plan) { return *plan.sources.front()->source; }

// What a server saved under the name meanwhile is newer than what was read, and must not be lost.
void require_same_file(const std::string& path, const Source& source) {
  struct stat named {};
  struct stat read {};
  if (::fstat(source.descriptor(), &read) != 0) return;  // was spooled, and has no file
  const bool found = ::stat(path.c_str(), &named) == 0;
  if (found && named.st_ino == read.st_ino && named.st_dev == read.st_dev) return;
  throw Error(ErrorKind::io, "another file took this name while it was read").in_file(path);
}

}  // namespace

void add_output(CLI::App& verb, RewriteOptions& options, bool one_file) {
  verb.add_option("-o,--output", options.output, "write here; - is standard output")
      ->type_name("OUT");
  if (one_file) verb.add_flag("--in-place", options.in_place, "replace FILE itself");
  verb.add_flag("--force", options.force, "replace OUT if it exists");
  verb.add_flag("--dry-run", options.dry_run, "write nothing, tell the size");
  verb.add_flag("--json", options.json, "print the figures as JSON");
  verb.add_flag("-q,--quiet", options.quiet, "print no figures");
  verb.add_flag("--no-progress", options.no_progress, "no progress bar on a terminal");
}

void add_rewrite(CLI::App& verb, RewriteOptions& options) {
  add_input(verb, options.input);
  add_output(verb, options, true);
}

void add_stream(CLI::App& verb, StreamOptions& options) {
  verb.add_option("--memory", options.memory, "which memory of the file")
      ->type_name("M")
      ->capture_default_str();
  verb.add_option("--stream", options.stream, "which stream of the memory")
      ->type_name("S")
      ->capture_default_str();
}

std::uint64_t write_output(const Plan& plan, const RewriteOptions& options,
                           std::vector<TensorLoss>* losses) {
  require_destination(options, source_of(plan));
  const std::uint64_t size = size_of(plan);
  if (options.dry_run) return size;
  const std::string& path = options.in_place ? options.input.file : options.output;
  OutputOptions how;
  how.overwrite = options.force || options.in_place;
  how.mode = source_of(plan).mode();
  const auto output = open_output(path, how);
  ProgressSink watched(*output, size, !options.no_progress);
  const bool tells = options.json || !options.quiet;
  write_plan(plan, watched, tells ? losses : nullptr);
  if (options.in_place) require_same_file(path, source_of(plan));
  output->commit();
  return size;
}

Json json_of(const std::vector<TensorLoss>& losses) {
  Json list = Json::array();
  for (const TensorLoss& loss : losses)
    list.push_back({{"tensor", loss.tensor},
                    {"values", loss.values},
                    {"max_abs", loss.max_abs},
                    {"rms", loss.rms},
                    {"relative_l2", loss.relative_l2},
                    {"not_finite", loss.not_finite}});
  return list;
}

void warn(const Plan& plan, const std::vector<std::string>& warnings, Json& figures) {
  figures["warnings"] = warnings;
  for (const std::string& warning : warnings)
    fmt::print(stderr, "kvtool: {}: warning: {}\n", source_of(plan).name(), warning);
}

void report(const Plan& plan, std::uint64_t size, const RewriteOptions& options,
            const Json& figures, const std::vector<std::string>& lines) {
  if (options.output == "-" && !options.dry_run) return;
  Printer out;
  if (options.json) {
    Json json = json_document(source_of(plan).name());
    json["output"] = options.dry_run    ? Json(nullptr)
                     : options.in_place ? Json(options.input.file)
                                        : Json(options.output);
    json["dry_run"] = options.dry_run;
    json["size_before"] = source_of(plan).size();
    json["size_after"] = size;
    json.update(figures);
    add_companions(plan, json);
    out.json(json);
  } else if (!options.quiet) {
    for (const std::string& line : lines) out.line("{}", line);
    tell_companions(plan, options.in_place, out);
    out.line("{} -> {} bytes{}", source_of(plan).size(), size,
             options.dry_run ? " (dry run: nothing written)" : "");
  }
  out.finish();
}

}  // namespace kvtool::cli
