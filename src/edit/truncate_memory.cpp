#include "edit/truncate_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "edit/window_check.h"
#include "kvtool/error.h"
#include "kvtool/plan.h"

namespace kvtool {
namespace {

bool is_kept(const CellTable& cells, std::size_t cell, const Cut& cut) {
  return cells.position(cell) < cut.position || !cut.members.has(cells, cell);
}

// The cells of the sequence in a memory, as positions in ascending order.
std::vector<Position> positions_in(const Memory& memory, const Cut& cut) {
  std::vector<Position> positions;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      if (cut.members.has(stream.cells, c)) positions.push_back(stream.cells.position(c));
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
    if (memory.kind == MemoryKind::attention && memory.role != "window")
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
