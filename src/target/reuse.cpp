// A server reuses the shared start of a prompt if the memory can go back to its end: plain caches
// always, windows as far as their cells reach, recurrent states only to where they stand. For the
// rest it needs a checkpoint from before, or computes everything again.
#include "target/reuse.h"

#include <algorithm>

namespace kvtool::target {
namespace {

constexpr Position none = -1;

bool is_window(const TakenMemory& memory, const Target& target) {
  return memory.role == "window" && target.swa_full != true;
}

std::uint64_t cells_in_attention(const std::vector<TakenMemory>& memories) {
  std::uint64_t cells = 0;
  for (const TakenMemory& memory : memories) cells = std::max(cells, memory.cells);
  return cells;
}

bool has_negative_position(const std::vector<TakenMemory>& memories) {
  return std::any_of(memories.begin(), memories.end(),
                     [](const TakenMemory& m) { return m.cells > 0 && m.pos_min < 0; });
}

// Positions that every memory can still go back to.
Position first_position(const std::vector<TakenMemory>& memories) {
  Position first = none;
  for (const TakenMemory& memory : memories)
    if (memory.cells > 0) first = std::max(first, memory.pos_min);
  return first;
}

// How far behind its newest cell a memory must still reach: the window, or one for states.
std::int64_t reach_needed(const std::vector<TakenMemory>& memories, const Target& target,
                          const std::vector<Part>& parts) {
  std::int64_t reach = 1;
  for (std::size_t m = 0; m < memories.size() && m < parts.size(); ++m) {
    if (!is_window(memories[m], target)) continue;
    const std::uint32_t window = parts[m].cache->window;
    reach =
        std::max<std::int64_t>(reach,
                               window > 0 ? window : static_cast<std::int64_t>(memories[m].cells));
  }
  return reach;
}

// A checkpoint that does not read into the target's memories is found out when it is used.
bool readable(const StoredCheckpoint& c, const Target& target, const std::vector<Part>& parts,
              format::Window& window) {
  Simulation blob(window, c.blob, target, checkpointed(parts), Container::sequence_state, true);
  blob.blob();
  return !blob.stop();
}

std::uint64_t tokens_after(const StoredCheckpoint& c, std::uint64_t shared) {
  const std::int64_t position = std::max<std::int64_t>(std::int64_t{c.pos_min} + 1, c.pos_max);
  return std::min(
      {shared, static_cast<std::uint64_t>(std::max<std::int64_t>(position, 0)), c.tokens});
}

// The latest checkpoint that lies before the place to go back to.
Reuse from_checkpoint(const Restored& restored, std::uint64_t shared, std::int64_t oldest_needed,
                      const Target& target, const std::vector<Part>& parts,
                      format::Window& window) {
  for (auto c = restored.checkpoints.rbegin(); c != restored.checkpoints.rend(); ++c) {
    const bool early = c->pos_min < oldest_needed || c->pos_min == 0;
    if (!early || c->pos_max >= static_cast<std::int64_t>(shared)) continue;
    if (!readable(*c, target, parts, window)) return {};
    const std::uint64_t tokens = tokens_after(*c, shared);
    return {tokens > 0 ? Aftermath::reused : Aftermath::recomputed, tokens};
  }
  return {};
}

}  // namespace

Reuse reuse_of(const Restored& restored, std::uint64_t shared, const Target& target,
               const std::vector<Part>& parts, format::Window& window) {
  const std::vector<TakenMemory>& memories = restored.memories;
  const bool has_state = target.model->recurrent.has_value();
  if (shared == 0) return {};
  if (!target.era->streams) return has_state ? Reuse{} : Reuse{Aftermath::reused, shared};
  if (cells_in_attention(memories) == 0) return {Aftermath::wrong_text, shared};
  if (has_negative_position(memories)) return {Aftermath::dies, 0};
  const std::int64_t back_to = static_cast<std::int64_t>(shared);
  const std::int64_t oldest_needed =
      std::max<std::int64_t>(0, back_to - reach_needed(memories, target, parts));
  const bool rewinds = target.swa_full == true && !has_state;
  if (rewinds || first_position(memories) <= oldest_needed) return {Aftermath::reused, shared};
  // Measured with lfm2 and a window: its checkpoints are restored and never taken.
  if (target.model->arrangement == "hybrid-iswa") return {};
  return from_checkpoint(restored, shared, oldest_needed, target, parts, window);
}

}  // namespace kvtool::target
