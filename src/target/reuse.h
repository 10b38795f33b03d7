// What becomes of the next prompt after a restore.
#pragma once

#include <cstdint>
#include <vector>

#include "target/server_tail.h"
#include "target/simulation.h"

namespace kvtool::target {

struct Reuse {
  Aftermath next = Aftermath::recomputed;
  std::uint64_t tokens = 0;  // of the prompt, not computed again
};

// What the reuse rules look at.
struct Restored {
  const std::vector<TokenId>& ids;
  const std::vector<TakenMemory>& memories;
  const std::vector<StoredCheckpoint>& checkpoints;
};

// The rules of the target's server for a prompt that shares the first `shared` ids; `last_again`
// when it has no others, so that the last of them is computed again for its logits.
[[nodiscard]] Reuse reuse_of(const Restored& restored, std::uint64_t shared, bool last_again,
                             const Target& target, const std::vector<Part>& parts,
                             format::Window& window);

}  // namespace kvtool::target
