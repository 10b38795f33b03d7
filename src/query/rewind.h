// How far llama-server goes back in a restored cache before it goes on with another prompt. One
// rule for `prefix --best-for`, which knows files alone, and `check`, which knows the loader too.
//
// The server looks at the oldest position that all memories still hold. Is it old enough for the
// next token, the cache is cut there; else the server takes the last checkpoint that is, or begins
// anew. Measured with llama-server 0.7.0 and windows of 2 to 20 (tests/query/reuse_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kvtool/facts.h"
#include "kvtool/stored_prompt.h"

namespace kvtool {

// Adds a window cache with cells in `held` to what stands in the way. `width` is the number of
// positions that its layers look back (n_swa); 0: taken for what is held, since a server keeps just
// that. A window that holds the first position tells no width: its prompt may be shorter.
void note_window(RewindFacts& facts, const PositionRange& held, std::uint32_t width = 0);

// Adds a memory that knows one moment only, that of `position`.
void note_state(RewindFacts& facts, std::int64_t position);

// Where the server goes on.
struct WayBack {
  std::uint64_t position = 0;
  std::optional<std::size_t> checkpoint;  // of RewindFacts::checkpoints
};

// The next token to be computed has position `next`; `last_again` when it is the one before, since
// the prompt ends there and its logits are needed. Nothing: from the start.
[[nodiscard]] std::optional<WayBack> way_back(const RewindFacts& facts, std::uint64_t next,
                                              bool last_again);

}  // namespace kvtool
