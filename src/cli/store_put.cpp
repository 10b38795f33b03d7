// store put, store get: files in and out.
#include "cli/companions.h"
#include "cli/input.h"
#include "cli/pack_options.h"
#include "cli/rewrite.h"
#include "cli/store_verbs.h"
#include "kvtool/convert.h"
#include "kvtool/error.h"
#include "kvtool/output.h"
#include "kvtool/target.h"

namespace kvtool::cli {
namespace {

// --- put ---

struct PutVerb {
  StoreOptions store;
  InputOptions input;
  PackingOptions packing;
  std::string name;
  std::string model;
  PutOptions put;
};

void print_put(const PutVerb& o, const PutReport& report) {
  Printer out;
  if (o.store.json) {
    Json json = json_document(o.input.file);
    json["name"] = o.name;
    json["file_bytes"] = report.file_bytes;
    json["new_bytes"] = report.new_bytes;
    json["added_bytes"] = report.added_bytes;
    json["blocks"] = report.blocks;
    json["new_blocks"] = report.new_blocks;
    json["evicted"] = report.evicted;
    out.json(json);
  } else if (!o.store.quiet) {
    out.line("'{}': {} bytes, of which {} are new, {} packed", o.name, report.file_bytes,
             report.new_bytes, report.added_bytes);
    for (const std::string& name : report.evicted) out.line("'{}' made room for it", name);
  }
  out.finish();
}

// ik_llama.cpp's server looks for files beside the one that it restores.
void warn_of_companions(const Dump& dump) {
  for (const std::string& path : companions_of(dump))
    fmt::print(stderr, "kvtool: {}: warning: {} belongs to it and is not in the store\n",
               dump.source->name(), path);
}

int run_put(PutVerb& o) {
  Store store = open_store(o.store);
  const auto dump = open(o.input);
  o.put.model = stamp_of_file(o.model);
  o.put.threads = threads_of(o.packing);
  Progress progress(dump->source->size(), !o.packing.no_progress);
  o.put.progress = [&](std::uint64_t bytes) { progress.advance(bytes); };
  PutReport report;
  try {
    report = store.put(o.name, *dump, o.put);
  } catch (const Error& error) {
    throw error.in_file(o.store.folder);
  }
  warn_of_companions(*dump);
  print_put(o, report);
  return exit_fine;
}

// --- get ---

struct GetVerb {
  StoreOptions store;
  RewriteOptions rewrite;
  std::string name;
  std::string model;
  std::string like;
};

// Nothing is loaded into the wrong model. What is not known is never a match.
void require_model(const StoreEntry& entry, const std::string& model) {
  const auto stamp = stamp_of_file(model);
  if (!stamp) return;
  if (!entry.model)
    throw Error(ErrorKind::refused,
                fmt::format("'{}' was put without --model: nobody knows of which one it is",
                            entry.name))
        .in_file(model);
  const auto found = differences(*entry.model, *stamp);
  if (any_hard(found))
    throw Error(ErrorKind::refused,
                fmt::format("'{}' is of another model: {} is {} there and {} here", entry.name,
                            found.front().key, found.front().a, found.front().b))
        .in_file(model);
  for (const StampDifference& difference : found)
    if (difference.stamp_class == StampClass::soft)
      fmt::print(stderr, "kvtool: {}: warning: '{}' was computed with another {}\n", model,
                 entry.name, difference.key);
}

Conversion conversion_of(const StoreEntry& entry, std::shared_ptr<const Source> source,
                         const std::string& like) {
  OpenOptions options;
  options.layout = entry.layout;
  options.trailing = Trailing::keep;
  ConvertOptions how;
  how.like = std::make_shared<const Dump>(open_dump(like));
  try {
    return convert(std::make_shared<const Dump>(open_dump(std::move(source), options)),
                   target_like(*how.like), how);
  } catch (const Error& error) {
    throw error.in_file(entry.name);
  }
}

// The bytes that were put. Both return the size of the output.
std::uint64_t get_file(const GetVerb& o, const std::shared_ptr<const Source>& source) {
  if (o.rewrite.output.empty()) throw Error(ErrorKind::usage, "where to? give -o OUT");
  const auto output = open_output(o.rewrite.output, {o.rewrite.force, 0600});
  ProgressSink watched(*output, source->size(), !o.rewrite.no_progress);
  watched.copy(*source, 0, source->size());
  output->commit();
  return source->size();
}

std::uint64_t get_converted(const GetVerb& o, const StoreEntry& entry,
                            std::shared_ptr<const Source> source) {
  const Conversion conversion = conversion_of(entry, std::move(source), o.like);
  std::vector<TensorLoss> losses;
  const std::uint64_t size = write_output(conversion.plan, o.rewrite, &losses);
  Json figures;
  warn(conversion.plan, conversion.warnings, figures);
  if (o.rewrite.quiet || o.rewrite.json || o.rewrite.output == "-") return size;
  for (const std::string& change : conversion.changes) fmt::print("{}\n", change);
  for (const std::string& cost : conversion.costs) fmt::print("cost: {}\n", cost);
  return size;
}

void print_get(const GetVerb& o, const StoreEntry& entry, std::uint64_t size) {
  if (o.rewrite.output == "-") return;
  Printer out;
  if (o.rewrite.json) {
    Json json = json_document(o.name);
    json["output"] = o.rewrite.output;
    json["size"] = size;
    json["entry"] = entry_json(entry);
    out.json(json);
  } else if (!o.rewrite.quiet) {
    out.line("'{}' is {} now, {} bytes", o.name, o.rewrite.output, size);
  }
  out.finish();
}

int run_get(GetVerb& o) {
  Store store = open_store(o.store);
  const StoreEntry entry = store.entry(o.name);
  require_model(entry, o.model);
  const auto source = store.get(o.name);
  const std::uint64_t size = o.like.empty() ? get_file(o, source) : get_converted(o, entry, source);
  print_get(o, entry, size);
  return exit_fine;
}

}  // namespace

Action add_store_put(CLI::App& verb) {
  auto o = std::make_shared<PutVerb>();
  verb.add_option("NAME", o->name, "what to call it: a name, not a path")->required();
  add_input(verb, o->input);
  replace_option(verb, "--model");
  verb.add_option("--model", o->model, "the model file that computed it: later, only it gets it")
      ->each(handing_on_to(o->input.model))
      ->type_name("GGUF");
  add_folder(verb, o->store);
  verb.add_option("--note", o->put.note, "a text to keep with it")->type_name("TEXT");
  verb.add_option("--tag", o->put.tags, "a word to find it by; repeatable")->type_name("TAG");
  verb.add_flag("--force", o->put.replace, "replace what has that name");
  verb.add_option("--level", o->put.level, "how hard zstd looks for repeats")
      ->check(CLI::Range(1, 19))
      ->type_name("N")
      ->capture_default_str();
  verb.add_option("-T,--threads", o->packing.threads, "threads; 0: one for each core")
      ->check(CLI::Range(0U, 1024U))
      ->type_name("N")
      ->capture_default_str();
  add_figures(verb, o->store);
  verb.add_flag("--no-progress", o->packing.no_progress, "no progress bar on a terminal");
  return [o] { return run_put(*o); };
}

Action add_store_get(CLI::App& verb) {
  auto o = std::make_shared<GetVerb>();
  verb.add_option("NAME", o->name, "the name that it was put under")->required();
  add_folder(verb, o->store);
  add_output(verb, o->rewrite, false);
  replace_option(verb, "--dry-run");
  verb.add_option("--model", o->model, "only if this model file computed it")->type_name("GGUF");
  verb.add_option("--like", o->like, "converted for the target that saved this dump")
      ->type_name("REF");
  return [o] { return run_get(*o); };
}

}  // namespace kvtool::cli
