// unpack: what pack made back into the file, or only the proof that it would be.
#include "cli/pack_options.h"
#include "cli/verb.h"
#include "kvtool/error.h"
#include "kvtool/pack.h"

namespace kvtool::cli {
namespace {

struct Options {
  PackingOptions packing;
  std::string base;
  bool test = false;
};

std::shared_ptr<Source> open_with_base(const Options& o) {
  if (o.base.empty()) return open_source(o.packing.file);
  return open_source(o.packing.file, [&](const std::string&) { return open_source(o.base); });
}

void report(const Options& o, const Source& source, const Packing& packing) {
  if (!reports(o.packing)) return;
  Printer out;
  if (o.packing.json) {
    Json json = packing_json(o.packing, source);
    json["form"] = name_of(packing.form);
    json["size_before"] = packing.packed_size;
    json["size_after"] = source.size();
    out.json(json);
  } else if (!o.packing.quiet) {
    if (o.test) out.line("{}: sound", source.name());
    out.line("{} -> {} bytes{}", packing.packed_size, source.size(),
             o.packing.dry_run ? " (nothing written)" : "");
  }
  out.finish();
}

int run(const Options& o) {
  const auto source = open_with_base(o);
  const auto packing = packing_of(*source);
  if (!packing) throw Error(ErrorKind::refused, "is not compressed").in_file(source->name());
  produce_output(o.packing, *source, [&](Sink& sink, Progress& progress) {
    UnpackOptions options;
    options.threads = threads_of(o.packing);
    options.progress = [&](std::uint64_t bytes) { progress.advance(bytes); };
    unpack(*source, sink, options);
  });
  report(o, *source, *packing);
  return exit_fine;
}

}  // namespace

Action add_unpack(CLI::App& verb) {
  auto o = std::make_shared<Options>();
  verb.add_option("FILE", o->packing.file, "what pack wrote, or any zstd file; - is standard input")
      ->required();
  add_packing(verb, o->packing);
  verb.add_option("--base", o->base, "the dump that FILE is a difference from")->type_name("REF");
  verb.add_flag("-t,--test", o->test, "write nothing, check every byte");
  return [o] {
    o->packing.dry_run = o->test;
    return run(*o);
  };
}

}  // namespace kvtool::cli
