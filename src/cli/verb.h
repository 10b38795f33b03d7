// The table of verbs: what main dispatches on, what help lists and what completion offers.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kvtool::cli {

// Exit statuses, the same for all verbs.
inline constexpr int exit_fine = 0;
inline constexpr int exit_differs = 1;  // compared and different, or a check failed
inline constexpr int exit_trouble = 2;  // usage, unreadable, damaged, unsupported or refused

// Runs a verb after its options are parsed; the answer is the exit status.
using Action = std::function<int()>;

struct Verb {
  const char* name;
  const char* alias;  // nullptr: none
  const char* summary;
  Action (*add)(CLI::App& verb);  // declares the options and says what to run
};

[[nodiscard]] const std::vector<Verb>& verbs();
// What can be typed for a verb: names and aliases.
[[nodiscard]] std::vector<std::string> verb_names();

Action add_inspect(CLI::App& verb);
Action add_cells(CLI::App& verb);
Action add_tokens(CLI::App& verb);
Action add_map(CLI::App& verb);
Action add_check(CLI::App& verb);
Action add_swap(CLI::App& verb);
Action add_move(CLI::App& verb);
Action add_defrag(CLI::App& verb);
Action add_convert(CLI::App& verb);
Action add_pack(CLI::App& verb);
Action add_unpack(CLI::App& verb);
Action add_seq(CLI::App& verb);
Action add_truncate(CLI::App& verb);
Action add_extract(CLI::App& verb);
Action add_merge(CLI::App& verb);
Action add_prefix(CLI::App& verb);
Action add_diff(CLI::App& verb);
Action add_stats(CLI::App& verb);
Action add_store(CLI::App& verb);
Action add_completion(CLI::App& verb);
Action add_help(CLI::App& verb);

}  // namespace kvtool::cli
