// Unified caches to one stream a sequence, and back.
#include <fmt/format.h>

#include <algorithm>

#include "convert/steps.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

// A stream with the headers of another one and no cells.
Stream empty_like(const Stream& shape) {
  Stream stream = shape;
  stream.cells = CellTable(shape.cells.extension());
  stream.origin.clear();
  return stream;
}

// The stream that shows what the memory's headers are: one with cells if there is one.
const Stream& shape_of(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return stream;
  return memory.streams.front();
}

bool continues(const CellRun& run, const CellRun& next) {
  return run.dump == next.dump && run.stream == next.stream && run.shift == next.shift &&
         run.first + run.count == next.first;
}

// Appends the data of one source cell.
void append_origin(Stream& to, const CellRun& origin) {
  if (!to.origin.empty() && continues(to.origin.back(), origin))
    ++to.origin.back().count;
  else
    to.origin.push_back(origin);
}

// Calls f(cell, the one source cell behind it) for every cell.
template <class F>
void for_each_cell(const Stream& stream, F&& f) {
  std::size_t cell = 0;
  for (const CellRun& run : stream.origin)
    for (std::uint32_t i = 0; i < run.count; ++i)
      f(cell++, CellRun{run.dump, run.stream, run.first + i, 1, run.shift});
}

Stream& stream_of(std::vector<Stream>& streams, SequenceId id) {
  if (static_cast<std::size_t>(id) >= streams.size())
    throw Error(ErrorKind::refused,
                fmt::format("sequence {} has no stream in a target of {}; give --parallel {} or more",
                            id, streams.size(), id + 1));
  return streams[static_cast<std::size_t>(id)];
}

// A copy of a cell for one of the sequences that share it.
void append_for(Stream& to, const CellTable& from, std::size_t cell, const CellRun& origin,
                SequenceId id) {
  to.cells.append(from.position(cell), std::vector<SequenceId>{id}, from.extra(cell));
  append_origin(to, origin);
}

void append_cell(Stream& to, const CellTable& from, std::size_t cell, const CellRun& origin) {
  to.cells.append_from(from, cell);
  append_origin(to, origin);
}

// The stream that takes the cells of a file of one sequence.
std::size_t home_of(SequenceId id, std::size_t n) {
  return id >= 0 && static_cast<std::size_t>(id) < n ? static_cast<std::size_t>(id) : 0;
}

std::vector<Stream> split(const Memory& memory, std::uint32_t n, bool one_sequence, SequenceId id) {
  std::vector<Stream> streams(n, empty_like(shape_of(memory)));
  Stream& home = streams[home_of(id, n)];
  for (const Stream& from : memory.streams)
    for_each_cell(from, [&](std::size_t cell, const CellRun& origin) {
      if (one_sequence) return append_cell(home, from.cells, cell, origin);
      for (const SequenceId owner : from.cells.sequences(cell))
        append_for(stream_of(streams, owner), from.cells, cell, origin, owner);
    });
  return streams;
}

std::vector<Stream> unify(const Memory& memory) {
  std::vector<Stream> streams(1, empty_like(shape_of(memory)));
  for (const Stream& from : memory.streams)
    for_each_cell(from, [&](std::size_t cell, const CellRun& origin) {
      append_cell(streams.front(), from.cells, cell, origin);
    });
  return streams;
}

}  // namespace

// True if every cell is in the stream of the sequence that it names first.
bool at_home(const Memory& memory) {
  for (std::size_t s = 0; s < memory.streams.size(); ++s) {
    const CellTable& cells = memory.streams[s].cells;
    for (std::size_t cell = 0; cell < cells.size(); ++cell)
      if (const auto ids = cells.sequences(cell); !ids.empty() && home_of(ids[0], memory.streams.size()) != s)
        return false;
  }
  return true;
}

void set_streams(State& state, std::uint32_t n, bool one_sequence, SequenceId id) {
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    if (memory.streams.size() == n && (n == 1 || at_home(memory))) continue;
    memory.streams = n == 1 ? unify(memory) : split(memory, n, one_sequence, id);
  }
}

}  // namespace kvtool::convert_steps
