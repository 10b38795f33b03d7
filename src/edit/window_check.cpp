#include "edit/window_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

using Positions = std::set<Position>;

Positions positions_in(const Memory& memory, const Members& members) {
  Positions positions;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      if (members.has(stream.cells, c)) positions.insert(stream.cells.position(c));
  return positions;
}

bool is_window(const Memory& memory) {
  return memory.kind == MemoryKind::attention && memory.role == "window";
}

// The positions of the sequence that any attention cache holds.
Positions all_positions(const State& state, const Members& members) {
  Positions all;
  for (const Memory& memory : state.memories)
    if (memory.kind == MemoryKind::attention) all.merge(positions_in(memory, members));
  return all;
}

std::int64_t end_of(const Positions& positions) {
  return positions.empty() ? 0 : std::int64_t{*positions.rbegin()} + 1;
}

// One sequence in one window cache, before and after.
struct Look {
  Positions all_before;
  Positions window_before;
  Positions all_after;
  Positions window_after;
};

// How far back the next token looks at most, as far as is known.
std::int64_t reach(const Look& look, std::uint32_t window) {
  if (window > 0) return window;
  if (look.window_before.size() == look.all_before.size())
    return std::numeric_limits<std::int32_t>::max();  // nothing has left the window
  return end_of(look.all_before) - *look.window_before.begin();
}

// The first position that is needed and missing.
std::optional<Position> missing(const Look& look, std::uint32_t window) {
  const std::int64_t from = end_of(look.all_after) - reach(look, window);
  for (const Position p : look.all_after)
    if (p >= from && look.window_after.count(p) == 0) return p;
  return std::nullopt;
}

// From where on the window holds every position: llama.cpp leaves no holes in it, and a server that
// restores one looks at the oldest position alone.
std::int64_t whole_from(const Look& look) {
  std::int64_t from = end_of(look.all_before);
  for (auto p = look.all_before.rbegin(); p != look.all_before.rend(); ++p) {
    if (look.window_before.count(*p) == 0) break;
    from = *p;
  }
  return from;
}

std::string oldest_cut(const Look& look, std::uint32_t window) {
  const std::int64_t begin = whole_from(look);
  const std::int64_t end = end_of(look.all_before);
  const std::int64_t oldest = window == 0 ? end : std::min(end, begin + window);
  return fmt::format("the window cache begins at position {}: the oldest position at which it can "
                     "be cut is {}{}",
                     begin, oldest,
                     window == 0 ? " (its end; less if the length of the window is given)" : "");
}

bool is_cut(const Look& look, const PositionMap& map) {
  return !map.moves_anything() && end_of(look.all_after) < end_of(look.all_before);
}

void require_window(const Look& look, const PositionMap& map, std::uint32_t window,
                    const Dump& before) {
  if (look.window_before.empty()) return;
  const auto gone = missing(look, window);
  if (!gone) return;
  if (is_cut(look, map))
    throw Error(ErrorKind::refused, oldest_cut(look, window) + checkpoint_hint(before));
  throw Error(
      ErrorKind::refused,
      fmt::format("the next token would look back to position {}, which has left the window "
                  "cache; {}",
                  *gone, oldest_cut(look, window)));
}

// The sequences that a change touches: one, or each by itself.
std::vector<Members> each_sequence(const Dump& dump, const Members& members) {
  const bool one = format::holds_one_sequence(dump.dialect);
  if (one || members.sequence()) return {members};
  std::vector<Members> all;
  for (const SequenceId id : sequence_ids(dump.state)) all.push_back({id, false});
  return all;
}

}  // namespace

std::string checkpoint_hint(const Dump& dump) {
  std::string list;
  for (const Checkpoint& c : dump.tail.checkpoints)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", c.tokens);
  return list.empty() ? "" : fmt::format("; there are checkpoints at {} tokens", list);
}

void require_windows(const Dump& before, const Dump& after, const Members& members,
                     const PositionMap& map, std::uint32_t window) {
  if (std::ranges::none_of(after.state.memories, is_window)) return;
  for (const Members& sequence : each_sequence(before, members)) {
    const Positions all_before = all_positions(before.state, sequence);
    const Positions all_after = all_positions(after.state, sequence);
    if (all_before == all_after && !map.moves_anything()) continue;
    for (std::size_t m = 0; m < after.state.memories.size(); ++m)
      if (is_window(after.state.memories[m]))
        require_window({all_before, positions_in(before.state.memories[m], sequence), all_after,
                        positions_in(after.state.memories[m], sequence)},
                       map, window, before);
  }
}

}  // namespace kvtool
