#include "edit/truncate_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kvtool/error.h"
#include "kvtool/plan.h"

namespace kvtool {
namespace {

bool belongs(const CellTable& cells, std::size_t cell, const Cut& cut) {
  const auto ids = cells.sequences(cell);
  if (!cut.sequence || ids.empty()) return !cut.sequence && ids.empty();
  return std::find(ids.begin(), ids.end(), *cut.sequence) != ids.end();
}

bool is_kept(const CellTable& cells, std::size_t cell, const Cut& cut) {
  return cells.position(cell) < cut.position || !belongs(cells, cell, cut);
}

// The cells of the sequence in a memory, as positions in ascending order.
std::vector<Position> positions_in(const Memory& memory, const Cut& cut) {
  std::vector<Position> positions;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      if (belongs(stream.cells, c, cut)) positions.push_back(stream.cells.position(c));
  std::sort(positions.begin(), positions.end());
  return positions;
}

std::uint64_t count_before(const std::vector<Position>& positions, Position end) {
  return static_cast<std::uint64_t>(std::lower_bound(positions.begin(), positions.end(), end) -
                                    positions.begin());
}

// True when no cell lies at or behind the cut.
bool is_untouched(const std::vector<Position>& positions, const Cut& cut) {
  return positions.empty() || positions.back() < cut.position;
}

// The first position whose continuation the memory still holds all cells for.
std::uint64_t oldest_cut(const std::vector<Position>& positions, const Cut& cut) {
  if (positions.empty() || positions.front() == 0) return 0;
  const auto begin = static_cast<std::uint64_t>(positions.front());
  const auto end = static_cast<std::uint64_t>(positions.back()) + 1;
  return cut.window == 0 ? end : std::min(end, begin + cut.window);
}

// A window has no holes between its oldest position and the cut.
bool is_dense(const std::vector<Position>& positions, Position end) {
  const auto stop = std::lower_bound(positions.begin(), positions.end(), end);
  for (auto p = positions.begin(); p != stop; ++p)
    if (p + 1 != stop && p[1] > *p + 1) return false;
  return true;
}

std::string checkpoint_hint(const Dump& dump) {
  std::string list;
  for (const Checkpoint& c : dump.tail.checkpoints)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", c.tokens);
  return list.empty() ? "" : fmt::format("; there are checkpoints at {} tokens", list);
}

void require_window(const Dump& dump, const Memory& memory, const Cut& cut) {
  const std::vector<Position> positions = positions_in(memory, cut);
  if (is_untouched(positions, cut)) return;
  const std::uint64_t oldest = oldest_cut(positions, cut);
  if (static_cast<std::uint64_t>(cut.position) >= oldest && is_dense(positions, cut.position))
    return;
  const auto end = static_cast<std::uint64_t>(positions.back()) + 1;
  throw Error(ErrorKind::refused,
              fmt::format("the window cache begins at position {}: the oldest position at which it "
                          "can be cut is {}{}{}",
                          positions.front(), oldest,
                          oldest == end && cut.window == 0
                              ? " (its end; less if the length of the window is given)"
                              : "",
                          checkpoint_hint(dump)));
}

void require_recurrent(const Dump& dump, const Memory& memory, const Cut& cut) {
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const std::int64_t end = std::int64_t{stream.cells.position(c)} + 1;
      if (end > cut.position)
        throw Error(ErrorKind::refused,
                    fmt::format("a recurrent state stands for all {} positions and cannot be cut "
                                "at {}{}",
                                end, cut.position, checkpoint_hint(dump)));
    }
}

}  // namespace

void require_tokens_of_cells(const Memory& memory, const Cut& cut) {
  const std::vector<Position> positions = positions_in(memory, cut);
  if (is_untouched(positions, cut)) return;
  const std::uint64_t before = count_before(positions, cut.position);
  if (before != cut.tokens)
    throw Error(ErrorKind::refused,
                fmt::format("{} cells lie before position {}, but {} tokens do: the tokens are not "
                            "those of the cells",
                            before, cut.position, cut.tokens));
}

bool can_be_cut(const State& state, const Cut& cut) {
  return std::ranges::all_of(state.memories, [&](const Memory& memory) {
    if (memory.kind != MemoryKind::attention) return false;
    const auto positions = positions_in(memory, cut);
    return is_untouched(positions, cut) || count_before(positions, cut.position) == cut.tokens;
  });
}

void require_cut(const Dump& dump, const Cut& cut) {
  const bool shorter = cut.tokens < dump.tokens.ids.size();
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind == MemoryKind::verbatim && shorter)
      throw Error(ErrorKind::refused, "a compressed cache cannot be cut");
    if (memory.kind == MemoryKind::recurrent) require_recurrent(dump, memory, cut);
    if (memory.kind != MemoryKind::attention) continue;
    if (memory.role == "window")
      require_window(dump, memory, cut);
    else
      require_tokens_of_cells(memory, cut);
  }
}

void cut_state(State& state, const Cut& cut) {
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (Stream& stream : memory.streams) {
      std::vector<std::uint32_t> kept;
      for (std::uint32_t c = 0; c < stream.cells.size(); ++c)
        if (is_kept(stream.cells, c, cut)) kept.push_back(c);
      if (kept.size() < stream.cells.size()) reorder(stream, kept);
    }
  }
}

}  // namespace kvtool
