// store init, pin, rm, gc, verify: keeping house.
#include "cli/progress.h"
#include "cli/store_verbs.h"

namespace kvtool::cli {
namespace {

struct InitVerb {
  StoreOptions store;
  std::optional<std::uint64_t> budget;
};

int run_init(const InitVerb& o) {
  Store::init(folder_of(o.store), o.budget);
  return exit_fine;
}

struct PinVerb {
  StoreOptions store;
  std::vector<std::string> names;
  bool off = false;
};

int run_pin(const PinVerb& o) {
  Store store = open_store(o.store);
  for (const std::string& name : o.names) store.pin(name, !o.off);
  return exit_fine;
}

struct RemoveVerb {
  StoreOptions store;
  std::vector<std::string> names;
};

int run_remove(const RemoveVerb& o) {
  Store store = open_store(o.store);
  for (const std::string& name : o.names) store.remove(name);
  return exit_fine;
}

struct GcVerb {
  StoreOptions store;
  GcOptions gc;
};

int run_gc(const GcVerb& o) {
  const GcReport report = open_store(o.store).gc(o.gc);
  Printer out;
  if (o.store.json) {
    Json json = json_document(o.store.folder);
    json["dry_run"] = o.gc.dry_run;
    json["evicted"] = report.evicted;
    json["dead_blocks"] = report.dead_blocks;
    json["bytes_before"] = report.bytes_before;
    json["bytes_after"] = report.bytes_after;
    out.json(json);
  } else if (!o.store.quiet) {
    for (const std::string& name : report.evicted) out.line("evicted '{}'", name);
    out.line("{} no longer needed; {} -> {} bytes{}", counted(report.dead_blocks, "block"),
             report.bytes_before, report.bytes_after,
             o.gc.dry_run ? " (dry run: nothing taken away)" : "");
  }
  out.finish();
  return exit_fine;
}

struct VerifyVerb {
  StoreOptions store;
  std::vector<std::string> names;
  bool no_progress = false;
};

// Of the files that verify puts together.
std::uint64_t bytes_of(Store& store, const std::vector<std::string>& names) {
  std::uint64_t bytes = 0;
  if (names.empty())
    for (const StoreEntry& entry : store.entries()) bytes += entry.file_bytes;
  for (const std::string& name : names) bytes += store.entry(name).file_bytes;
  return bytes;
}

int run_verify(const VerifyVerb& o) {
  Store store = open_store(o.store);
  Progress progress(bytes_of(store, o.names), !o.no_progress);
  const VerifyReport report =
      store.verify(o.names, [&](std::uint64_t bytes) { progress.advance(bytes); });
  Printer out;
  if (o.store.json) {
    Json json = json_document(o.store.folder);
    json["entries"] = report.entries;
    json["blocks"] = report.blocks;
    json["problems"] = report.problems;
    out.json(json);
  } else {
    for (const std::string& problem : report.problems) out.line("{}", problem);
    if (!o.store.quiet)
      out.line("{} whole, {}", counted(report.entries, "file"),
               report.problems.empty() ? std::string("no problems")
                                       : counted(report.problems.size(), "problem"));
  }
  out.finish();
  return report.problems.empty() ? exit_fine : exit_differs;
}

}  // namespace

Action add_store_init(CLI::App& verb) {
  auto o = std::make_shared<InitVerb>();
  add_folder(verb, o->store);
  add_bytes(verb, "--budget", o->budget,
            "evict what was used least recently when the blocks take more than this");
  return [o] { return run_init(*o); };
}

Action add_store_pin(CLI::App& verb) {
  auto o = std::make_shared<PinVerb>();
  verb.add_option("NAME", o->names, "entries that are never evicted")->required();
  add_folder(verb, o->store);
  verb.add_flag("--off", o->off, "may be evicted again");
  return [o] { return run_pin(*o); };
}

Action add_store_rm(CLI::App& verb) {
  auto o = std::make_shared<RemoveVerb>();
  verb.add_option("NAME", o->names, "entries to forget")->required();
  add_folder(verb, o->store);
  return [o] { return run_remove(*o); };
}

Action add_store_gc(CLI::App& verb) {
  auto o = std::make_shared<GcVerb>();
  add_folder(verb, o->store);
  add_bytes(verb, "--budget", o->gc.budget,
            "evict down to this, whatever the store's own budget is");
  verb.add_flag("--dry-run", o->gc.dry_run, "take nothing away, tell what would go");
  verb.add_option("--wait", o->gc.patience, "seconds to wait until nobody uses the store")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SECONDS")
      ->capture_default_str();
  add_figures(verb, o->store);
  return [o] { return run_gc(*o); };
}

Action add_store_verify(CLI::App& verb) {
  auto o = std::make_shared<VerifyVerb>();
  verb.add_option("NAME", o->names, "only these entries");
  add_folder(verb, o->store);
  add_figures(verb, o->store);
  verb.add_flag("--no-progress", o->no_progress, "no progress bar on a terminal");
  return [o] { return run_verify(*o); };
}

}  // namespace kvtool::cli
