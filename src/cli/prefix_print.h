// The ways in which `prefix` shows what it found; one source a way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/print.h"
#include "cli/prompt_argument.h"
#include "cli/prompt_set.h"

namespace kvtool::cli {

enum class Format { text, json, tsv };

// The groups that share at least `least` tokens, as a tree.
void print_groups(const PromptSet& set, std::uint64_t least, Format format, Printer& out);

// Shared tokens of every pair.
void print_matrix(const PromptSet& set, Format format, Printer& out);

// The files by what a server would reuse of them for a prompt, the best first; at most `top` of
// them, 0: all that share something. The answer is whether one does. The prompt is added to the
// set.
bool print_best(PromptSet& set, const Prompt& prompt, std::size_t top, Format format, Printer& out);

// The fields that stand at the front of every JSON document about several files.
[[nodiscard]] Json prompts_json(const PromptSet& set);

// "93.3 %"; of nothing: "-".
[[nodiscard]] std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace kvtool::cli
