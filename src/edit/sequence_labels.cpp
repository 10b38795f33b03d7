// seq cp, keep and rename: edits that change whose a cell is and nothing else.
#include <fmt/format.h>

#include <algorithm>

#include "edit/members.h"
#include "edit/state_places.h"
#include "edit/stream_builder.h"
#include "edit/token_places.h"
#include "format/container.h"
#include "kvtool/error.h"
#include "kvtool/sequences.h"

namespace kvtool {
namespace {

bool contains(const PositionRange& range, std::int64_t position) {
  return range.begin <= position && position < range.end;
}

bool lists(const std::vector<SequenceId>& ids, SequenceId id) {
  return std::ranges::find(ids, id) != ids.end();
}

// Ids are stored in ascending order.
void add_id(std::vector<SequenceId>& ids, SequenceId id) {
  ids.insert(std::ranges::lower_bound(ids, id), id);
}

void require_id(SequenceId id) {
  if (id < 0) throw Error(ErrorKind::usage, fmt::format("{} is no sequence id", id));
}

void require_attention(const State& state) {
  for (const Memory& memory : state.memories)
    if (memory.kind == MemoryKind::verbatim)
      throw Error(ErrorKind::refused, "the sequences of a compressed cache cannot be changed");
}

// The stream that the cells of a sequence lie in.
std::size_t home_of(const Memory& memory, SequenceId id) {
  const std::size_t streams = memory.streams.size();
  if (streams <= 1) return 0;
  if (static_cast<std::size_t>(id) < streams) return static_cast<std::size_t>(id);
  throw Error(ErrorKind::refused,
              fmt::format("sequence {} has no stream in a file of {}; kvtool convert --kv-unified "
                          "makes one stream of them",
                          id, streams));
}

// --- copy ---

// A recurrent state goes to the copy whole or not at all.
void require_whole_state(const Memory& memory, SequenceId from, const PositionRange& positions) {
  for_each_cell(memory.streams.front(), [&](StreamCell& cell) {
    if (!lists(cell.ids, from)) return;
    if (positions.begin <= 0 && contains(positions, cell.position)) return;
    throw Error(ErrorKind::refused,
                fmt::format("a recurrent state stands for all {} positions together; copy them all",
                            std::int64_t{cell.position} + 1));
  });
}

// Calls f for the cells that `to` has at the positions and `from` has not.
void require_room(const Memory& memory, SequenceId from, SequenceId to,
                  const PositionRange& positions) {
  for (const Stream& stream : memory.streams)
    for_each_cell(stream, [&](StreamCell& cell) {
      const bool in_the_way =
          memory.kind == MemoryKind::recurrent || contains(positions, cell.position);
      if (!lists(cell.ids, to) || lists(cell.ids, from) || !in_the_way) return;
      throw Error(ErrorKind::refused,
                  fmt::format("sequence {} has a cell at position {} already; remove it first "
                              "(kvtool seq rm)",
                              to, cell.position));
    });
}

void share_cells(Stream& stream, SequenceId from, SequenceId to, const PositionRange& positions) {
  rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
    if (lists(cell.ids, from) && !lists(cell.ids, to) && contains(positions, cell.position))
      add_id(cell.ids, to);
    builder.append(cell);
  });
}

// Headers of an empty stream are those of the one that its cells come from.
void take_headers(Stream& to, const Stream& from) {
  if (!to.cells.empty()) return;
  to.layers = from.layers;
  to.v_transposed = from.v_transposed;
  to.rot_k = from.rot_k;
  to.rot_v = from.rot_v;
  to.rope = from.rope;
}

void copy_cells(Stream& stream, const Stream& source, SequenceId from, SequenceId to,
                const PositionRange& positions) {
  take_headers(stream, source);
  StreamBuilder builder(stream.cells.extension());
  for_each_cell(stream, [&](StreamCell& cell) { builder.append(cell); });
  for_each_cell(source, [&](StreamCell& cell) {
    if (!lists(cell.ids, from) || !contains(positions, cell.position)) return;
    cell.ids = {to};
    builder.append(cell);
  });
  builder.finish(stream);
}

void copy_in_memory(Memory& memory, SequenceId from, SequenceId to,
                    const PositionRange& positions) {
  const std::size_t source = home_of(memory, from);
  const std::size_t target = home_of(memory, to);
  if (source == target) return share_cells(memory.streams[target], from, to, positions);
  copy_cells(memory.streams[target], memory.streams[source], from, to, positions);
}

// --- keep ---

void keep_in_stream(Stream& stream, SequenceId sequence) {
  rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
    if (!lists(cell.ids, sequence)) return;
    cell.ids = {sequence};
    builder.append(cell);
  });
}

// The list becomes that of the sequence, as far as it is known.
void keep_tokens(SequenceEdit& edit, const Dump& before, SequenceId sequence) {
  TokenArea& tokens = edit.plan.target.tokens;
  const auto places = token_places(before);
  if (tokens.ids.empty() || (places && places->sequence == sequence)) return;
  const std::vector<TokenId> known = known_tokens(before, sequence);
  if (!places && known.empty())
    return edit.note("left the token list as it was: it is not known to be that of one sequence");
  tokens = tokens_like(tokens, known);
  edit.note(
      fmt::format("the file tells the first {} tokens of sequence {}", known.size(), sequence));
}

// --- rename ---

void relabel(Stream& stream, SequenceId from, SequenceId to) {
  rebuild(stream, [&](StreamCell& cell, StreamBuilder& builder) {
    if (std::erase(cell.ids, from) > 0) add_id(cell.ids, to);
    builder.append(cell);
  });
}

// In a file of one sequence the place of its stream means nothing.
void rename_in_memory(Memory& memory, SequenceId from, SequenceId to, bool one) {
  if (memory.streams.size() > 1 && !one)
    std::swap(memory.streams[home_of(memory, from)], memory.streams[home_of(memory, to)]);
  for (Stream& stream : memory.streams) relabel(stream, from, to);
}

void rename_state(State& state, SequenceId from, SequenceId to, bool one) {
  for (Memory& memory : state.memories) rename_in_memory(memory, from, to, one);
  if (state.source_sequence == from) state.source_sequence = to;
}

void rename_tail(Tail& tail, SequenceId from, SequenceId to) {
  const auto rename_blob = [&](Blob& blob) {
    if (blob.state) rename_state(*blob.state, from, to, true);
  };
  for (Checkpoint& checkpoint : tail.checkpoints) {
    rename_blob(checkpoint.target);
    rename_blob(checkpoint.draft);
  }
  rename_blob(tail.draft);
}

bool names_ids(const Dump& dump) {
  return dump.state.source_sequence || !sequence_ids(dump.state).empty();
}

void require_free_id(const Dump& dump, SequenceId id) {
  if (sequence_ids(dump.state).count(id) == 0) return;
  throw Error(ErrorKind::refused, fmt::format("there is a sequence {} already", id));
}

}  // namespace

void copy_sequence(SequenceEdit& edit, SequenceId from, SequenceId to,
                   const PositionRange& positions) {
  require_id(to);
  State& state = edit.plan.target.state;
  if (format::holds_one_sequence(edit.plan.target.dialect))
    throw Error(ErrorKind::refused,
                "a file of one sequence cannot hold a second; kvtool merge makes a session");
  require_sequence(edit.plan.target, from);
  require_attention(state);
  if (from == to) return;
  for (const Memory& memory : state.memories) {
    require_room(memory, from, to, positions);
    if (memory.kind == MemoryKind::recurrent) require_whole_state(memory, from, positions);
    static_cast<void>(home_of(memory, to));
  }
  const State before = state;
  for (Memory& memory : state.memories) copy_in_memory(memory, from, to, positions);
  return_states(before, edit.plan.target);
}

void keep_sequence(SequenceEdit& edit, SequenceId sequence) {
  require_sequence(edit.plan.target, sequence);
  require_attention(edit.plan.target.state);
  if (format::holds_one_sequence(edit.plan.target.dialect)) return;
  const Dump before = edit.plan.target;
  for (Memory& memory : edit.plan.target.state.memories)
    for (Stream& stream : memory.streams) keep_in_stream(stream, sequence);
  return_states(before.state, edit.plan.target);
  keep_tokens(edit, before, sequence);
}

void rename_sequence(SequenceEdit& edit, SequenceId from, SequenceId to) {
  require_id(to);
  Dump& dump = edit.plan.target;
  require_sequence(dump, from);
  if (from == to) return;
  require_attention(dump.state);
  if (!names_ids(dump)) throw Error(ErrorKind::refused, "the cells of this file name no sequence");
  require_free_id(dump, to);
  const State before = dump.state;
  rename_state(dump.state, from, to, format::holds_one_sequence(dump.dialect));
  return_states(before, dump);
  rename_tail(dump.tail, from, to);
}

}  // namespace kvtool
