// The parts of `kvtool store`, each a verb of its own below it.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "cli/print.h"
#include "cli/verb.h"
#include "kvtool/store.h"

namespace kvtool::cli {

// Which store, and how to print.
struct StoreOptions {
  std::string folder;
  bool json = false;
  bool tsv = false;
  bool quiet = false;
};

// Declares --store (or KVTOOL_STORE).
void add_folder(CLI::App& verb, StoreOptions& options);
// Declares --json, and --tsv for lists.
void add_format(CLI::App& verb, StoreOptions& options, bool list);
// Declares --json and -q, for what is no list.
void add_figures(CLI::App& verb, StoreOptions& options);
// The folder that was named. Throws Error(usage) if none was.
[[nodiscard]] const std::string& folder_of(const StoreOptions& options);
[[nodiscard]] Store open_store(const StoreOptions& options);

// Declares an option for bytes: a number with or without K, M, G or T.
void add_bytes(CLI::App& verb, const std::string& name, std::optional<std::uint64_t>& bytes,
               const std::string& help);

// The stamp of a model file; nothing for an empty path.
[[nodiscard]] std::optional<ModelStamp> stamp_of_file(const std::string& path);

// An entry as JSON, and its moments as text, UTC.
[[nodiscard]] Json entry_json(const StoreEntry& entry);
[[nodiscard]] std::string moment(std::int64_t seconds);

Action add_store_init(CLI::App& verb);
Action add_store_put(CLI::App& verb);
Action add_store_get(CLI::App& verb);
Action add_store_ls(CLI::App& verb);
Action add_store_show(CLI::App& verb);
Action add_store_best(CLI::App& verb);
Action add_store_pin(CLI::App& verb);
Action add_store_rm(CLI::App& verb);
Action add_store_gc(CLI::App& verb);
Action add_store_verify(CLI::App& verb);
Action add_store_du(CLI::App& verb);

}  // namespace kvtool::cli
