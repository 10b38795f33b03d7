// The cells of a dump drawn with letters: one letter a sequence, capitals for shared cells.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "cli/print.h"
#include "kvtool/dump.h"

namespace kvtool::cli {

// Declares --color auto|always|never.
void add_color(CLI::App& verb, std::string& color);
// True when standard output should be coloured.
[[nodiscard]] bool use_color(const std::string& color);

// For each stream: the cells in file order, `width` to a line, then each sequence along its
// positions, where a dot is a hole. Long streams are drawn with several cells to a character.
void draw_cells(const Dump& dump, unsigned width, bool color, Printer& out);

}  // namespace kvtool::cli
