// Which token of the list belongs to which position of which sequence.
#pragma once

#include <optional>
#include <vector>

#include "edit/position_map.h"
#include "kvtool/dump.h"

namespace kvtool {

// The list, read as that of one sequence.
struct TokenPlaces {
  std::optional<SequenceId> sequence;  // nothing: the one sequence of a file without ids
  std::vector<std::int64_t> positions; // of each token; ascending
};

// The attention cache that keeps every cell, as a window does not; null if there is none.
[[nodiscard]] const Memory* memory_of_all_cells(const State& state);

// Whose tokens the list holds: the only sequence with as many cells as there are tokens, or one
// cell less, and the lowest of those that share all of them. Nothing when none fits or several do.
[[nodiscard]] std::optional<TokenPlaces> token_places(const Dump& dump);

// The token list after a change of the positions of its sequence. Throws Error(refused) when a
// medium would be cut.
[[nodiscard]] TokenArea changed_tokens(const TokenArea& tokens, const TokenPlaces& places,
                                       const PositionMap& map);

// How many of the first `count` tokens are left after the change.
[[nodiscard]] std::uint64_t tokens_left(const TokenPlaces& places, const PositionMap& map,
                                        std::uint64_t count);

// A list with these ids, of the form that `like` has and without media.
[[nodiscard]] TokenArea tokens_like(const TokenArea& like, const std::vector<TokenId>& ids);

}  // namespace kvtool
