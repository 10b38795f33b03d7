#include "edit/state_places.h"

#include <fmt/format.h>

#include <map>

#include "edit/stream_builder.h"
#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

// False for lists that no program wrote, of which nothing can be said.
bool stand_in_places(const CellTable& cells) {
  for (std::size_t place = 0; place < cells.size(); ++place)
    for (const SequenceId id : cells.sequences(place))
      if (id != static_cast<SequenceId>(place)) return false;
  return true;
}

std::map<SequenceId, StreamCell> states_by_sequence(const Stream& stream) {
  std::map<SequenceId, StreamCell> states;
  for_each_cell(stream, [&](StreamCell& cell) {
    for (const SequenceId id : cell.ids) states[id] = cell;
  });
  for (auto& [id, cell] : states) cell.ids = {id};
  return states;
}

// What stands in a place whose sequence is gone. Lists of cells have the position -1 there.
StreamCell nobodys(StreamCell cell, const Dialect& dialect) {
  cell.ids.clear();
  if (format::is_old_session(dialect)) cell.position = -1;
  return cell;
}

template <class F>
void for_each_recurrent(Dump& target, F&& f) {
  if (!format::places_tell_sequences(target.dialect)) return;
  for (std::size_t m = 0; m < target.state.memories.size(); ++m)
    if (target.state.memories[m].kind == MemoryKind::recurrent)
      f(m, target.state.memories[m].streams.front());
}

}  // namespace

void require_free_order(const Dump& dump, const Memory& memory) {
  if (memory.kind != MemoryKind::recurrent || !format::places_tell_sequences(dump.dialect)) return;
  throw Error(ErrorKind::refused,
              "the place of a recurrent state says which sequence it is of: in another order the "
              "sequences would have each other's");
}

void return_states(const State& before, Dump& target) {
  for_each_recurrent(target, [&](std::size_t m, Stream& stream) {
    const Stream& was = before.memories[m].streams.front();
    if (!stand_in_places(was.cells)) return;
    const auto states = states_by_sequence(stream);
    const std::size_t places = was.cells.size();
    if (!states.empty() && static_cast<std::size_t>(states.rbegin()->first) >= places)
      throw Error(ErrorKind::refused,
                  fmt::format("the file has places for the recurrent states of {} sequences, and "
                              "none for sequence {}",
                              places, states.rbegin()->first));
    StreamBuilder builder(stream.cells.extension());
    SequenceId place = 0;
    for_each_cell(was, [&](StreamCell& cell) {
      const auto state = states.find(place++);
      builder.append(state != states.end() ? state->second : nobodys(cell, target.dialect));
    });
    builder.finish(stream);
  });
}

void order_states(Dump& target) {
  for_each_recurrent(target, [&](std::size_t, Stream& stream) {
    StreamBuilder builder(stream.cells.extension());
    SequenceId place = 0;
    for (const auto& [id, cell] : states_by_sequence(stream)) {
      if (id != place++)
        throw Error(ErrorKind::refused,
                    fmt::format("sequence {} would need the recurrent state of sequence {} before "
                                "its own, and there is none; --renumber closes the gap",
                                id, place - 1));
      builder.append(cell);
    }
    builder.finish(stream);
  });
}

}  // namespace kvtool
