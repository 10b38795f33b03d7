#include "cli/prompt_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "cli/input.h"
#include "kvtool/error.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

namespace fs = std::filesystem;

std::string content_of(const std::string& path) {
  const auto source = open_source(path);
  std::string text(static_cast<std::size_t>(source->size()), '\0');
  source->read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Names end with NUL if there is one, as `find -print0` writes them, and else with a line feed.
std::vector<std::string> names_in(const std::string& text) {
  const char end = text.find('\0') == std::string::npos ? '\n' : '\0';
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(end, at), text.size());
    if (stop > at) names.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return names;
}

std::vector<std::string> named(const PromptSetOptions& options) {
  std::vector<std::string> names = options.files;
  if (options.files_from.empty()) return names;
  for (std::string& name : names_in(content_of(options.files_from)))
    names.push_back(std::move(name));
  return names;
}

// Regular files below a folder, by name. Links to folders are not followed.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() != ".checkpoints")  // ik_llama.cpp's
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Dump skim(const std::shared_ptr<const Source>& source) {
  OpenOptions options;
  options.trailing = Trailing::keep;
  options.skim = true;
  Dump dump = open_dump(source, options);
  source->require_unchanged();
  const Container container = dump.dialect.container;
  if (container == Container::state || container == Container::sequence_state)
    throw Error(ErrorKind::refused, "a bare state holds no tokens").in_file(source->name());
  return dump;
}

void note_failure(PromptSet& set, const std::string& file, const std::string& message) {
  fmt::print(stderr, "kvtool: {}\n", message);
  set.failed.push_back({file, message});
}

// Reads a file of a folder, unless it is no dump at all.
void read_found(PromptSet& set, const std::string& file) {
  try {
    const auto source = open_source(file);
    if (looks_like_dump(*source)) set.read(source);
  } catch (const Error& error) {
    note_failure(set, file, error.in_file(file).what());
  }
}

void read_named(PromptSet& set, const std::string& file) {
  try {
    set.read(open_source(file));
  } catch (const Error& error) {
    note_failure(set, file, error.in_file(file).what());
  }
}

void read_folder(PromptSet& set, const std::string& folder) {
  try {
    for (const std::string& file : files_below(folder)) read_found(set, file);
  } catch (const fs::filesystem_error& error) {
    note_failure(set, folder, fmt::format("{}: {}", folder, error.code().message()));
  }
}

}  // namespace

void add_prompt_set(CLI::App& verb, PromptSetOptions& options) {
  verb.add_option("FILE", options.files, "dumps, and folders with dumps");
  verb.add_option("--files-from", options.files_from,
                  "read more names from here, a line or a NUL each; - is standard input")
      ->type_name("LIST");
}

void PromptSet::add(StoredPrompt prompt, const TokenArea& tokens) {
  tree.add(symbols_of(tokens, media), media);
  prompts.push_back(std::move(prompt));
}

void PromptSet::read(const std::shared_ptr<const Source>& source) {
  const Dump dump = skim(source);
  add(stored_prompt(dump), dump.tokens);
}

void PromptSet::sort_out_shapes() {
  std::map<std::string, std::set<std::string>> archs;  // known ones of each shape
  for (const StoredPrompt& prompt : prompts)
    if (!prompt.arch.empty()) archs[prompt.shape].insert(prompt.arch);
  std::map<std::string, std::size_t> number;
  shapes.clear();
  shape_of.clear();
  for (const StoredPrompt& prompt : prompts) {
    const auto known = archs.find(prompt.shape);
    const bool told = prompt.arch.empty() && known != archs.end() && known->second.size() == 1;
    const std::string& arch = told ? *known->second.begin() : prompt.arch;
    const std::string name = arch.empty() ? prompt.shape : arch + ", " + prompt.shape;
    const auto [at, fresh] = number.try_emplace(name, shapes.size());
    if (fresh) shapes.push_back(name);
    shape_of.push_back(at->second);
  }
}

PromptSet read_prompts(const PromptSetOptions& options) {
  PromptSet set;
  const std::vector<std::string> names = named(options);
  if (names.empty()) throw Error(ErrorKind::usage, "which files? give FILE... or --files-from");
  for (const std::string& name : names) {
    std::error_code ignored;
    if (name != "-" && fs::is_directory(name, ignored))
      read_folder(set, name);
    else
      read_named(set, name);
  }
  set.sort_out_shapes();
  return set;
}

}  // namespace kvtool::cli
