// Findings about the token list: a loader matches a new prompt against it and nothing else.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/facts.h"
#include "query/findings.h"

namespace kvtool {
namespace {

std::uint64_t cells_in(const Dump& dump) {
  std::uint64_t cells = 0;
  for (const Memory& memory : dump.state.memories) cells += cells_of(memory);
  return cells;
}

// The memory whose cells stand for every token: a whole attention cache if there is one.
const Memory* counting_memory(const Dump& dump) {
  const Memory* counting = nullptr;
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind == MemoryKind::verbatim || memory.role == "window") continue;
    if (counting == nullptr || cells_of(memory) > cells_of(*counting)) counting = &memory;
  }
  return counting;
}

// Tokens that the memory has seen: one a cell, or for a lone recurrent state all up to its position.
std::optional<std::uint64_t> tokens_seen(const Dump& dump) {
  const Memory* memory = counting_memory(dump);
  if (memory == nullptr) return std::nullopt;
  const auto sequences = sequences_of(*memory, holds_one_sequence(dump));
  if (sequences.size() != 1 || sequences.front().pos_max < 0) return std::nullopt;
  if (memory->kind == MemoryKind::attention) return sequences.front().cells;
  return static_cast<std::uint64_t>(sequences.front().pos_max) + 1;
}

void check_ids(const Dump& dump, Findings& findings) {
  const TokenArea& tokens = dump.tokens;
  if (!tokens.problem.empty())
    findings.error("token_payload", "tokens", "the token payload is damaged: " + tokens.problem);
  const auto bad = std::find_if(tokens.ids.begin(), tokens.ids.end(), [](TokenId id) { return id < -1; });
  if (bad != tokens.ids.end())
    findings.error("negative_token", "tokens",
                   fmt::format("token {} is {}; llama-server refuses ids outside the vocabulary",
                               bad - tokens.ids.begin(), *bad));
}

void check_empty(const Dump& dump, Findings& findings) {
  const bool ids = !dump.tokens.ids.empty();
  const bool cells = cells_in(dump) > 0;
  if (ids && !cells)
    findings.error("tokens_without_cells", "tokens",
                   fmt::format("{} tokens but no cells: llama-server reports success and answers "
                               "wrongly, older ones die",
                               dump.tokens.ids.size()));
  if (!ids && !cells)
    findings.warning("empty_slot", "",
                     "no tokens and no cells: saved when the slot was already empty, perhaps over "
                     "a chat; servers before mid 2025 die when they restore it");
  if (!ids && cells)
    findings.warning("no_tokens", "tokens",
                     "cells but no tokens: a server cannot match a prompt and computes it again");
}

void compare_counts(std::uint64_t ids, std::uint64_t seen, Findings& findings) {
  if (ids < seen)
    findings.warning("fewer_tokens", "tokens",
                     fmt::format("{} tokens for {} cells: what lies beyond them is dropped", ids, seen));
  if (ids > seen + 1)
    findings.warning("more_tokens", "tokens",
                     fmt::format("{} tokens for {} cells: {} of them have no K and V; a loader that "
                                 "trusts the list answers wrongly",
                                 ids, seen, ids - seen));
  if (ids == seen)
    findings.note("last_token_replayed", "tokens",
                  "as many tokens as cells: to continue exactly here, a loader computes the last "
                  "token again");
}

}  // namespace

void check_tokens(const Dump& dump, Findings& findings) {
  if (kind_of(dump) == "state") return;  // states carry no tokens
  if (dump.state.memories.empty()) return;
  check_ids(dump, findings);
  check_empty(dump, findings);
  const auto seen = tokens_seen(dump);
  if (seen && !dump.tokens.ids.empty()) compare_counts(dump.tokens.ids.size(), *seen, findings);
}

}  // namespace kvtool
