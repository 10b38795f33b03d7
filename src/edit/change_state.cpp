#include "edit/change_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "edit/stream_builder.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

constexpr SequenceId unnamed = -1;  // the one sequence of files that store no ids

// The changed cells of each sequence, as (position afterwards, what moved them).
using Arrivals = std::map<SequenceId, std::vector<std::pair<std::int64_t, const PositionMove*>>>;

Arrivals arrivals(const Memory& memory, const Members& members, const PositionMap& map) {
  Arrivals list;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const Position p = stream.cells.position(c);
      if (!members.has(stream.cells, c) || map.removes(p)) continue;
      const std::pair<std::int64_t, const PositionMove*> arrival{map.target_of(p), map.move_of(p)};
      if (members.sequence() || stream.cells.sequences(c).empty())
        list[members.sequence().value_or(unnamed)].push_back(arrival);
      else
        for (const SequenceId id : stream.cells.sequences(c)) list[id].push_back(arrival);
    }
  return list;
}

// Cells that come from different sides must not meet.
void require_free_positions(const Memory& memory, const Members& members, const PositionMap& map) {
  for (auto& [id, list] : arrivals(memory, members, map)) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i)
      if (list[i].first == list[i - 1].first && list[i].second != list[i - 1].second)
        throw Error(
            ErrorKind::refused,
            fmt::format("position {} would be taken twice; remove one first (kvtool seq rm)",
                        list[i].first));
  }
}

// The positions that the cell of an image stands for: those up to its row and column.
std::int64_t extent_of(const CellTable& cells, std::size_t cell) {
  const CellExtra extra = cells.extra(cell);
  return std::int64_t{std::max({cells.position(cell), extra.x, extra.y})} + 1;
}

bool has_places(const CellTable& cells) { return cells.extension() != CellExtension::none; }

// An image's cells have one position and reach over as many as it is wide or high.
void require_whole_images(const Memory& memory, const Members& members, const PositionMap& map) {
  for (const Stream& stream : memory.streams) {
    if (!has_places(stream.cells)) continue;
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const std::int64_t end = extent_of(stream.cells, c);
      if (!members.has(stream.cells, c) || !map.cuts(stream.cells.position(c), end)) continue;
      throw Error(
          ErrorKind::refused,
          fmt::format("the positions go through an image, which begins at {} and reaches at "
                      "least to {}",
                      stream.cells.position(c), end));
    }
  }
}

void require_recurrent(const Memory& memory, const Members& members, const PositionMap& map) {
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const std::int64_t end = std::int64_t{stream.cells.position(c)} + 1;
      if (!members.has(stream.cells, c) || !map.removes_some_before(end)) continue;
      if (map.removes_all_before(end)) continue;
      throw Error(ErrorKind::refused,
                  fmt::format("a recurrent state stands for all {} positions together and cannot "
                              "lose some of them",
                              end));
    }
}

void require_memory(const Memory& memory, const Members& members, const PositionMap& map) {
  if (memory.kind == MemoryKind::verbatim)
    throw Error(ErrorKind::refused, "a compressed cache cannot be edited by position");
  if (memory.kind == MemoryKind::recurrent) return require_recurrent(memory, members, map);
  require_whole_images(memory, members, map);
  require_free_positions(memory, members, map);
}

void drop_id(StreamCell& cell, const Members& members) {
  std::erase(cell.ids, *members.sequence());
}

// The other sequences keep the cell as it is, and this one gets a copy.
void split(StreamCell& cell, const Members& members, StreamBuilder& builder) {
  StreamCell theirs = cell;
  drop_id(theirs, members);
  builder.append(theirs);
  cell.ids = {*members.sequence()};
}

// Applies the change to the streams of one memory.
class MemoryChange {
 public:
  MemoryChange(const Members& members, const PositionMap& map, bool turns)
      : members_(members), map_(map), turns_(turns) {}

  void apply(Stream& stream) const {
    const CellTable before = stream.cells;
    std::size_t at = 0;
    rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
      const std::size_t c = at++;
      if (!members_.has(before, c)) return builder.append(cell);
      change(cell, members_.alone(before, c), has_places(before), builder);
    });
  }

 private:
  void change(StreamCell& cell, bool alone, bool with_extra, StreamBuilder& builder) const {
    if (map_.removes(cell.position)) {
      if (alone) return;
      drop_id(cell, members_);
      return builder.append(cell);
    }
    const PositionMove* move = map_.move_of(cell.position);
    if (move == nullptr) return builder.append(cell);
    if (!alone) split(cell, members_, builder);
    const Position shift_before = cell.origin.shift;
    move_by(cell, move->by, with_extra);
    if (!turns_) cell.origin.shift = shift_before;
    builder.append(cell);
  }

  const Members& members_;
  const PositionMap& map_;
  bool turns_;
};

}  // namespace

void require_change(const State& state, const Members& members, const PositionMap& map) {
  for (const Memory& memory : state.memories) require_memory(memory, members, map);
}

void change_state(State& state, const Members& members, const PositionMap& map,
                  const RopeOfMemory& rope) {
  for (std::size_t m = 0; m < state.memories.size(); ++m) {
    const auto turning = rope(m);
    const MemoryChange change(members, map, turning != nullptr);
    for (Stream& stream : state.memories[m].streams) {
      change.apply(stream);
      if (turning) stream.rope = turning;
    }
  }
}

}  // namespace kvtool
