#include "kvtool/stored_prompt.h"

#include <algorithm>

#include "kvtool/checked.h"
#include "kvtool/facts.h"
#include "query/rewind.h"

namespace kvtool {
namespace {

std::uint64_t kv_bytes(const Memory& memory) {
  std::uint64_t most = 0;
  for (const Stream& stream : memory.streams) most = std::max(most, stream.cell_bytes());
  return most;
}

// Oldest and newest position of a memory; nothing without cells.
std::optional<PositionRange> positions_of(const Memory& memory) {
  std::optional<PositionRange> range;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const std::int64_t position = stream.cells.position(c);
      if (!range) range = {position, position + 1};
      range->begin = std::min(range->begin, position);
      range->end = std::max(range->end, position + 1);
    }
  return range;
}

// Where a memory without cells, or one that is not understood, stands: at the end of the prompt.
std::int64_t end_of(const Dump& dump) {
  return static_cast<std::int64_t>(dump.tokens.ids.size()) - 1;
}

void note_memory(const Dump& dump, const Memory& memory, RewindFacts& rewind) {
  const auto held = positions_of(memory);
  if (memory.kind == MemoryKind::recurrent) {
    rewind.recurrent = true;
    note_state(rewind, held ? held->end - 1 : end_of(dump));
  } else if (memory.kind == MemoryKind::verbatim) {
    rewind.verbatim = true;
    note_state(rewind, end_of(dump));
  } else if (memory.role == "window" && held) {
    note_window(rewind, *held);
  }
}

RewindFacts rewind_facts(const Dump& dump) {
  RewindFacts rewind;
  for (const Memory& memory : dump.state.memories) note_memory(dump, memory, rewind);
  for (const Checkpoint& c : dump.tail.checkpoints)
    rewind.checkpoints.push_back({c.tokens, c.pos_min, c.pos_max});
  return rewind;
}

}  // namespace

StoredPrompt stored_prompt(const Dump& dump) {
  StoredPrompt prompt;
  prompt.name = dump.source->name();
  prompt.file_bytes = dump.source->size();
  prompt.tokens = dump.tokens.ids.size();
  prompt.media = dump.tokens.media;
  prompt.arch = dump.arch.value_or("");
  prompt.shape = shape_text(dump);
  prompt.rewind = rewind_facts(dump);
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention || memory.role == "window") continue;
    if (!prompt.has_cache) prompt.cells = cells_of(memory);
    prompt.has_cache = true;
    prompt.kv_bytes_per_token = checked_add(prompt.kv_bytes_per_token, kv_bytes(memory));
  }
  return prompt;
}

}  // namespace kvtool
