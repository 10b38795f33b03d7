// Options that say which loader a file is meant for, shared by `check` and `convert`.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/input.h"
#include "kvtool/target.h"

namespace kvtool::cli {

// As given; everything is optional.
struct TargetOptions {
  std::string to;      // "ggsq:4", "ggsn", "ggsn6.s164"
  std::string loader;  // see loader_named
  std::optional<std::uint32_t> ctx_size;
  std::optional<std::uint32_t> parallel;
  std::optional<bool> unified;
  std::string type_k;
  std::string type_v;
  std::string flash_attention;  // "on" or "off"
  bool swa_full = false;
  bool no_rotation = false;
  std::string model;  // a GGUF file
  std::string like;   // a dump
  // True when any of them was given.
  [[nodiscard]] bool any() const;
};

// Declares the options, all in the group "Target" of the help.
// `input`: that of the same verb, which may need model and reference too.
void add_target(CLI::App& verb, TargetOptions& options, InputOptions& input);
// What they describe: a dump of the target (--like) first, a model over it, single settings over
// both. Throws Error, e.g. usage for a loader that is not known or a version without its layout.
[[nodiscard]] Target resolve(const TargetOptions& options);
// The layout that --to names in place of a version; empty: it names none.
[[nodiscard]] std::string layout_in(const std::string& to);
// The dump of --like, or nothing; and the same target with that dump at hand.
[[nodiscard]] std::shared_ptr<const Dump> open_like(const TargetOptions& options);
[[nodiscard]] Target resolve(const TargetOptions& options, const Dump* like);

// The arguments with llama.cpp's short names of several letters (-np, -ctk, -ctv, -fa, -kvu,
// -no-kvu) written out, which the parser of options cannot take.
[[nodiscard]] std::vector<std::string> spell_out(std::vector<std::string> arguments);

}  // namespace kvtool::cli
