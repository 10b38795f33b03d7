// The command line as a function: everything that main does, so that tests can link it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

#include "cli/verb.h"

namespace kvtool::cli {

// The whole grammar of the command line, and what to run for each verb.
struct CommandLine {
  std::unique_ptr<CLI::App> app;
  std::vector<Action> actions;  // one for each verb of verbs(), in its order
};
[[nodiscard]] CommandLine make_command_line();

// Parses, runs the verb, prints errors to stderr as one line; returns the exit status.
int run(int argc, const char* const* argv);

}  // namespace kvtool::cli
