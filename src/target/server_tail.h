// What llama-server itself reads of a slot file: packed ids, and checkpoints behind the state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/cursor.h"
#include "kvtool/restore.h"
#include "kvtool/tokens.h"

namespace kvtool::target {

// The ids that the server takes from the words; `refusal` is set when it takes none.
struct TakenTokens {
  std::vector<TokenId> ids;
  std::optional<Reason> refusal;
};
[[nodiscard]] TakenTokens take_tokens(const std::vector<std::int32_t>& words, const Target& target);

// A checkpoint as the server keeps it, unread.
struct StoredCheckpoint {
  std::uint64_t tokens = 0;
  Position pos_min = 0;
  Position pos_max = 0;
  Extent blob;
};

// The tail from `begin` on. What the server ignores with a line in the log is a warning.
struct ServerTail {
  std::vector<StoredCheckpoint> checkpoints;
  std::vector<Finding> warnings;
};
[[nodiscard]] ServerTail take_tail(format::Window& window, std::uint64_t begin);

}  // namespace kvtool::target
