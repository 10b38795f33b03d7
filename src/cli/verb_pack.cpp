// pack: a dump as a container of independent frames, or any file as seekable zstd.
#include <algorithm>
#include <filesystem>

#include "cli/companions.h"
#include "cli/input.h"
#include "cli/pack_options.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/pack.h"

namespace kvtool::cli {
namespace {

struct Options {
  PackingOptions packing;
  InputOptions input;
  std::string base;
  bool plain = false;
  bool tsv = false;
  int level = 1;
};

std::string times(std::uint64_t raw, std::uint64_t packed) {
  return packed == 0 ? "" : fmt::format(", {:.2f}x",
                                        static_cast<double>(raw) / static_cast<double>(packed));
}

// All sections of one kind together, for people.
std::vector<PackedSection> by_kind(const std::vector<PackedSection>& sections) {
  std::vector<PackedSection> kinds;
  for (const PackedSection& s : sections) {
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const PackedSection& kind) { return kind.kind == s.kind; });
    if (at == kinds.end()) at = kinds.insert(at, {{}, s.kind, 0, 0, 0});
    at->raw += s.raw;
    at->packed += s.packed;
    at->from_base += s.from_base;
  }
  return kinds;
}

std::string kind_words(const PackedSection& kind) {
  std::string words = fmt::format("{}: {} -> {} bytes{}", kind.kind, kind.raw, kind.packed,
                                  times(kind.raw, kind.packed));
  if (kind.from_base > 0) words += fmt::format(", {} as differences", kind.from_base);
  return words;
}

void report(const Options& o, const Source& source, std::uint64_t written,
            const PackReport& figures, const std::vector<std::string>& companions = {}) {
  if (!reports(o.packing)) return;
  Printer out;
  if (o.packing.json) {
    Json json = packing_json(o.packing, source);
    json["size_before"] = source.size();
    json["size_after"] = written;
    json["index_bytes"] = figures.around;
    json["sections"] = Json::array();
    for (const PackedSection& s : figures.sections)
      json["sections"].push_back({{"label", s.label},
                                  {"kind", s.kind},
                                  {"raw", s.raw},
                                  {"packed", s.packed},
                                  {"from_base", s.from_base}});
    if (!companions.empty()) json["companions"] = companions;
    out.json(json);
  } else if (o.tsv) {
    out.line("label\tkind\traw\tpacked\tfrom_base");
    for (const PackedSection& s : figures.sections)
      out.line("{}\t{}\t{}\t{}\t{}", s.label, s.kind, s.raw, s.packed, s.from_base);
  } else if (!o.packing.quiet) {
    for (const PackedSection& kind : by_kind(figures.sections)) out.line("{}", kind_words(kind));
    out.line("{} -> {} bytes{}{}", source.size(), written, times(source.size(), written),
             o.packing.dry_run ? " (dry run: nothing written)" : "");
    for (const std::string& path : companions)
      out.line("{} belongs to the source and is not packed with it", path);
  }
  out.finish();
}

PackOptions pack_options(const Options& o) {
  PackOptions options;
  options.level = o.level;
  options.threads = threads_of(o.packing);
  if (o.base.empty()) return options;
  options.base = std::make_shared<const Dump>(open_dump(o.base));
  options.base_name = std::filesystem::path(o.base).filename().string();
  return options;
}

// The output must not be the file that it is a difference from, or that it is made of.
void require_other_file(const std::string& output, const std::string& input) {
  std::error_code ignored;
  if (!output.empty() && output != "-" && std::filesystem::equivalent(output, input, ignored))
    throw Error(ErrorKind::refused, "is read and would be replaced; give another -o OUT")
        .in_file(output);
}

int run_plain(const Options& o) {
  const auto source = open_source(o.packing.file);
  PackOptions options = pack_options(o);
  const std::uint64_t written =
      produce_output(o.packing, *source, [&](Sink& sink, Progress& progress) {
        options.progress = [&](std::uint64_t bytes) { progress.advance(bytes); };
        pack_plain(*source, sink, options);
      });
  report(o, *source, written, {});
  return exit_fine;
}

int run_container(const Options& o) {
  InputOptions input = o.input;
  input.file = o.packing.file;
  const auto dump = open(input);
  PackOptions options = pack_options(o);
  PackReport figures;
  const std::uint64_t written =
      produce_output(o.packing, *dump->source, [&](Sink& sink, Progress& progress) {
        options.progress = [&](std::uint64_t bytes) { progress.advance(bytes); };
        figures = pack(*dump, sink, options);
      });
  report(o, *dump->source, written, figures, companions_of(*dump));
  return exit_fine;
}

int run(const Options& o) {
  for (const std::string& input : {o.packing.file, o.base})
    require_other_file(o.packing.output, input);
  return o.plain ? run_plain(o) : run_container(o);
}

}  // namespace

Action add_pack(CLI::App& verb) {
  auto o = std::make_shared<Options>();
  verb.add_option("FILE", o->packing.file, "the dump; - is standard input")->required();
  add_packing(verb, o->packing);
  auto* base = verb.add_option("--base", o->base, "store only what differs from this dump")
                   ->type_name("REF");
  auto* plain = verb.add_flag("--plain", o->plain, "any file, as zstd that `zstd -d` restores");
  plain->excludes(base);
  verb.add_flag("--tsv", o->tsv, "print the figures of every section, tab-separated")
      ->excludes(plain)
      ->excludes("--json");
  verb.add_option("--level", o->level, "how hard zstd looks for repeats")
      ->check(CLI::Range(1, 19))
      ->type_name("N")
      ->capture_default_str();
  verb.add_flag("--dry-run", o->packing.dry_run, "write nothing, tell the size");
  verb.add_option("--layout", o->input.layout, "take this layout, where several fit")
      ->type_name("NAME");
  verb.add_option("--trailing", o->input.trailing,
                  "unknown bytes behind a sequence state: refuse or keep")
      ->check(CLI::IsMember({"refuse", "keep"}))
      ->type_name("WHAT");
  add_unstored(verb, o->input);
  return [o] { return run(*o); };
}

}  // namespace kvtool::cli
