// Many files at once: which ones, their facts, and the tree of their prompts.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "kvtool/prefix.h"
#include "kvtool/stored_prompt.h"

namespace kvtool::cli {

struct PromptSetOptions {
  std::vector<std::string> files;  // files and folders
  std::string files_from;          // a file with more of them, "-" for standard input
};

// Declares FILE... and --files-from.
void add_prompt_set(CLI::App& verb, PromptSetOptions& options);

// A file that could not be read.
struct FailedFile {
  std::string file;
  std::string message;  // with the file's name
};

struct PromptSet {
  std::vector<StoredPrompt> prompts;  // in the order of reading, which numbers them in the tree
  std::vector<std::string> shapes;    // kinds of K/V that occur: arch, as far as known, and shape
  std::vector<std::size_t> shape_of;  // of each prompt, as index into `shapes`
  std::vector<FailedFile> failed;
  MediaIndex media;
  PrefixTree tree;

  // Adds a prompt and keeps of its tokens what the tree did not have.
  void add(StoredPrompt prompt, const TokenArea& tokens);
  // Reads a dump and adds it. Throws Error when that cannot be done, and for a bare state.
  void read(const std::shared_ptr<const Source>& source);
  // Fills `shapes` and `shape_of`, when all prompts are there. Slot files store no arch: they
  // count as of the arch that the sessions of their shape have, if these agree on one.
  void sort_out_shapes();
  [[nodiscard]] bool same_shape(std::size_t a, std::size_t b) const {
    return shape_of[a] == shape_of[b];
  }
};

// Reads all that the options name, one after the other, keeping no token list. Of folders the dumps
// in them are read, in the order of their names; what is no dump there is passed over. Files that
// cannot be read are reported on standard error, one line each, and left out.
[[nodiscard]] PromptSet read_prompts(const PromptSetOptions& options);

}  // namespace kvtool::cli
