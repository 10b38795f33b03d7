// What a cut at one position does to memories, and when it must not be done.
#pragma once

#include <cstdint>

#include "edit/members.h"

namespace kvtool {

struct Cut {
  Position position = 0;     // cells at and behind it go
  std::uint64_t tokens = 0;  // tokens before it
  Members members;           // whose cells are cut
};

// True for a state of attention caches alone that hold every position before the cut.
[[nodiscard]] bool can_be_cut(const State& state, const Cut& cut);

// Throws Error(refused) with the reason, and with the places where the dump can be cut, unless all
// its memories can follow. What window caches must hold, require_windows() says.
void require_cut(const Dump& dump, const Cut& cut);

// Throws Error(refused) unless as many cells lie before the cut as tokens: otherwise nobody knows
// which cells to drop.
void require_tokens_of_cells(const Memory& memory, const Cut& cut);

// Drops the cells at and behind the cut.
void cut_state(State& state, const Cut& cut);

}  // namespace kvtool
