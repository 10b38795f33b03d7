// A server reuses the shared start of a prompt if the memory can go back to its end: plain caches
// always, windows as far as their cells reach, recurrent states only to where they stand. For the
// rest it needs a checkpoint from before, or computes everything again.
#include "target/reuse.h"

#include <algorithm>

#include "query/rewind.h"

namespace kvtool::target {
namespace {

bool is_window(const TakenMemory& memory, const Target& target) {
  return memory.role == "window" && target.swa_full != true;
}

std::uint64_t cells_in_attention(const std::vector<TakenMemory>& memories) {
  std::uint64_t cells = 0;
  for (const TakenMemory& memory : memories) cells = std::max(cells, memory.cells);
  return cells;
}

// A lowest position of -1 is what a server gets for a sequence without cells, and it aborts when
// that contradicts the tokens. It does not notice lower ones.
bool looks_absent(const std::vector<TakenMemory>& memories) {
  return std::any_of(memories.begin(), memories.end(),
                     [](const TakenMemory& m) { return m.cells > 0 && m.pos_min == -1; });
}

// What the memories hold, with the window that the target has.
RewindFacts facts_of(const Restored& restored, const Target& target,
                     const std::vector<Part>& parts) {
  RewindFacts facts;
  for (std::size_t m = 0; m < restored.memories.size(); ++m) {
    const TakenMemory& memory = restored.memories[m];
    if (memory.cells == 0) continue;
    if (is_window(memory, target))
      note_window(facts, {memory.pos_min, std::int64_t{memory.pos_max} + 1},
                  m < parts.size() ? parts[m].cache->window : 0);
    else
      note_state(facts, memory.pos_min);
  }
  for (const StoredCheckpoint& c : restored.checkpoints)
    facts.checkpoints.push_back({c.tokens, c.pos_min, c.pos_max});
  return facts;
}

// A checkpoint that does not read into the target's memories is found out when it is used.
bool readable(const StoredCheckpoint& c, const Target& target, const std::vector<Part>& parts,
              format::Window& window) {
  Simulation blob(window, c.blob, target, checkpointed(parts), Container::sequence_state, true);
  blob.blob();
  return !blob.stop();
}

Reuse reused(std::uint64_t tokens, bool last_again) {
  const std::uint64_t kept = tokens - (last_again && tokens > 0 ? 1 : 0);
  return {kept > 0 ? Aftermath::reused : Aftermath::recomputed, kept};
}

}  // namespace

Reuse reuse_of(const Restored& restored, std::uint64_t shared, bool last_again,
               const Target& target, const std::vector<Part>& parts, format::Window& window) {
  const std::vector<TakenMemory>& memories = restored.memories;
  const bool has_state = target.model->recurrent.has_value();
  if (shared == 0) return {};
  if (!target.era->streams) return has_state ? Reuse{} : reused(shared, last_again);
  if (cells_in_attention(memories) == 0) return {Aftermath::wrong_text, shared};
  if (looks_absent(memories)) return {Aftermath::dies, 0};
  const auto way = way_back(facts_of(restored, target, parts), shared, last_again);
  if (!way) return {};
  if (!way->checkpoint) return reused(shared, last_again);
  const StoredCheckpoint& c = restored.checkpoints[*way->checkpoint];
  if (!readable(c, target, parts, window)) return {};
  const std::uint64_t tokens = std::min({way->position, shared, c.tokens});
  return reused(tokens, last_again && tokens == shared);
}

}  // namespace kvtool::target
