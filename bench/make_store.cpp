// make-store FOLDER PROMPT: a store whose catalogue holds many entries and no blocks, for the bench of
// `store best`; and the prompt of one of them, gone on with, as ids in a file.
//
// All prompts begin with one system prompt; those of a group share more, then each goes on by itself.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "kvtool/store.h"
#include "store/sqlite_catalogue.h"

namespace {

using kvtool::Symbol;

struct Options {
  std::string folder;
  std::string prompt;
  std::uint32_t entries = 100'000;
  std::uint32_t groups = 100;
  std::uint32_t tokens = 8000;
  std::uint32_t system_tokens = 4000;
  std::uint32_t group_tokens = 2000;
};

void append_random(std::vector<Symbol>& ids, std::uint32_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<Symbol>(random() % 128'000));
}

std::vector<Symbol> prompt_of(const Options& options, std::uint32_t entry) {
  std::vector<Symbol> ids;
  append_random(ids, options.system_tokens, 1);
  append_random(ids, options.group_tokens, 2 + entry % options.groups);
  append_random(ids, options.tokens - options.system_tokens - options.group_tokens,
                1'000'000 + entry);
  return ids;
}

void add_entry(const Options& options, std::uint32_t number, kvtool::store::Catalogue& catalogue) {
  kvtool::store::NewEntry entry;
  entry.entry.name = fmt::format("entry {}", number);
  entry.entry.layout = "made";
  entry.entry.prompt.arch = "llama";
  entry.entry.prompt.shape = "kv; main: made";
  entry.entry.prompt.has_cache = true;
  entry.entry.prompt.tokens = options.tokens;
  entry.entry.prompt.cells = options.tokens;
  entry.symbols = prompt_of(options, number);
  const kvtool::MediaIndex media;
  entry.media = &media;
  catalogue.add(entry, [](const auto&, const auto&) { return false; });
}

void make(const Options& options) {
  kvtool::Store::init(options.folder, std::nullopt);
  kvtool::store::SqliteCatalogue catalogue(options.folder + "/catalogue.db");
  for (std::uint32_t i = 0; i < options.entries; ++i) add_entry(options, i, catalogue);
  std::ofstream out(options.prompt);
  for (const Symbol id : prompt_of(options, options.entries / 2)) out << id << '\n';
  out << "1 2 3\n";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Makes a store of many entries without blocks.");
  app.add_option("FOLDER", options.folder, "the store")->required();
  app.add_option("PROMPT", options.prompt, "file for the ids of a prompt")->required();
  app.add_option("--entries", options.entries, "how many")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    make(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make-store: {}\n", error.what());
    return 2;
  }
}
