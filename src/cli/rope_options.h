// What edits have to know of the model: how far its window looks back, how K turns with positions.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/input.h"
#include "kvtool/convert.h"
#include "kvtool/sequences.h"

namespace kvtool::cli {

struct WindowOptions {
  std::string model;                    // a GGUF file
  std::optional<std::uint32_t> window;  // n_swa
};

// Declares --model and --window.
// `input`: that of the same verb, which may need the model too.
void add_window(CLI::App& verb, WindowOptions& options, InputOptions& input);
// Positions that window layers look back; 0: not known. Throws Error.
[[nodiscard]] std::uint32_t window_of(const WindowOptions& options, const Dump& dump);

// Options of edits that give cells new positions.
struct MoveOptions {
  WindowOptions window;
  RopeOptions rope;
  std::string pairs;
  std::string scaling;
  std::string rotation = "auto";
  bool labels_only = false;
};

// Declares --model, --window, --labels-only, --rotation, and the options of the rope in a group.
void add_moves(CLI::App& verb, MoveOptions& options, InputOptions& input);

// What --rotation can be, and what it says.
[[nodiscard]] std::vector<std::string> rotation_names();
[[nodiscard]] StatedRotation rotation_named(const std::string& name);

// A dump whose rotation is known, and what moves in it need.
struct Prepared {
  std::shared_ptr<const Dump> dump;
  PositionOptions options;
};
// `moves`: false when nothing will move, so that only the window matters. Throws Error where
// something has to be said.
[[nodiscard]] Prepared prepare(const MoveOptions& options, std::shared_ptr<const Dump> dump,
                               bool moves);

}  // namespace kvtool::cli
