#include "cli/store_verbs.h"

#include <fmt/chrono.h>

#include "kvtool/error.h"
#include "kvtool/gguf.h"
#include "kvtool/source.h"

namespace kvtool::cli {

void add_folder(CLI::App& verb, StoreOptions& options) {
  verb.add_option("--store", options.folder, "folder of the store")
      ->envname("KVTOOL_STORE")
      ->type_name("DIR");
}

void add_format(CLI::App& verb, StoreOptions& options, bool list) {
  CLI::Option* json = verb.add_flag("--json", options.json, "print JSON");
  if (list) verb.add_flag("--tsv", options.tsv, "print tab-separated columns")->excludes(json);
}

void add_figures(CLI::App& verb, StoreOptions& options) {
  verb.add_flag("--json", options.json, "print the figures as JSON");
  verb.add_flag("-q,--quiet", options.quiet, "print no figures");
}

const std::string& folder_of(const StoreOptions& options) {
  if (options.folder.empty())
    throw Error(ErrorKind::usage, "which store? give --store DIR or set KVTOOL_STORE");
  return options.folder;
}

Store open_store(const StoreOptions& options) { return Store(folder_of(options)); }

void add_bytes(CLI::App& verb, const std::string& name, std::optional<std::uint64_t>& bytes,
               const std::string& help) {
  verb.add_option(name, bytes, help)->transform(CLI::AsSizeValue(false))->type_name("BYTES");
}

std::optional<ModelStamp> stamp_of_file(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return stamp_of(open_gguf(open_source(path)));
}

std::string moment(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Json entry_json(const StoreEntry& entry) {
  return {{"name", entry.name},
          {"note", entry.note},
          {"tags", entry.tags},
          {"created", moment(entry.created)},
          {"used", moment(entry.used)},
          {"pinned", entry.pinned},
          {"layout", entry.layout},
          {"arch", entry.prompt.arch.empty() ? Json(nullptr) : Json(entry.prompt.arch)},
          {"shape", entry.prompt.shape},
          {"tokens", entry.prompt.tokens},
          {"cells", entry.prompt.cells},
          {"file_bytes", entry.file_bytes},
          {"added_bytes", entry.added_bytes},
          {"xxh3", fmt::format("{:016x}{:016x}", entry.hash_high, entry.hash_low)},
          {"has_model", entry.model.has_value()}};
}

}  // namespace kvtool::cli
