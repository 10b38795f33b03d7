#include "format/tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "format/memories.h"

namespace kvtool::format {
namespace {

// Dialects that the state inside a blob can have: the slot's own first. A draft model may need
// another cell extension than the main model.
std::vector<Dialect> blob_dialects(const Dialect& slot) {
  Dialect dialect = slot;
  dialect.container = Container::sequence_state;
  dialect.prefix = true;
  std::vector<Dialect> dialects = {dialect};
  for (const CellExtension other : {CellExtension::none, CellExtension::xy_token}) {
    if (other == slot.extension) continue;
    dialect.extension = other;
    dialects.push_back(dialect);
  }
  return dialects;
}

// Reads a sequence state that fills the reader's bounds, or says why that fails.
bool read_blob_state(const Reader& io, Blob& blob, const Dialect& dialect, Furthest& furthest) {
  Reader ahead = io;
  State prefixed;
  try {
    prefix(ahead, prefixed, dialect);
  } catch (const Error& error) {
    furthest.note(error, "blob", ahead.progress());
    return false;
  }
  for (StateReading& reading : read_states(ahead, dialect, "blob", furthest)) {
    if (reading.end.cursor().remaining() > 0 || reading.state.memories.empty()) continue;
    reading.state.source_sequence = prefixed.source_sequence;
    blob.state = std::move(reading.state);
    blob.dialect = dialect;
    return true;
  }
  return false;
}

// Streams were numbered from 0 inside the blob; they go on after those of the file.
std::uint32_t renumber(State& state, std::uint32_t first) {
  for (Memory& memory : state.memories)
    for (Stream& stream : memory.streams) {
      stream.ordinal = first++;
      for (CellRun& run : stream.origin) run.stream = stream.ordinal;
    }
  return first;
}

std::uint32_t next_magic(const Reader& io) {
  std::uint32_t magic = 0;
  Cursor ahead = Reader(io).cursor();
  return ahead.take(magic) ? magic : 0;
}

// Reads one part of the tail if its magic stands there; a part that breaks off is left unread.
template <class Read>
bool read_part(Reader& io, std::uint32_t magic, std::string& problem, Read&& read) {
  if (next_magic(io) != magic) return false;
  Reader ahead = io;
  try {
    read(ahead);
  } catch (const Error& error) {
    problem = error.what();
    return false;
  }
  io.take_over(ahead);
  return true;
}

std::string first_bytes(const Reader& io) {
  std::array<std::byte, 8> bytes{};
  Cursor ahead = Reader(io).cursor();
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(8, ahead.remaining()));
  if (!ahead.take(std::span(bytes).first(size))) return {};
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    text += fmt::format("{}{:02x}", i == 0 ? "" : " ", std::to_integer<unsigned>(bytes[i]));
  return text;
}

}  // namespace

void blob(Reader& io, Blob& blob, const Dialect& slot) {
  std::uint64_t size = 0;
  io.u64("size", size);
  io.opaque("content", blob.extent, size);
  if (size == 0 || io.skims()) return;
  Furthest furthest;
  const Reader inside = io.inside(blob.extent);
  for (const Dialect& dialect : blob_dialects(slot))
    if (read_blob_state(inside, blob, dialect, furthest)) {
      io.set_next_stream(renumber(*blob.state, io.next_stream()));
      return;
    }
  blob.problem = furthest.empty() ? "bytes remain behind the state" : furthest.error().what();
}

void blob(Walker& io, const Blob& blob, const Dialect& /*slot*/) {
  if (!blob.state) {
    io.u64("size", blob.extent.size);
    if (blob.extent.size > 0) io.opaque("content", blob.extent, blob.extent.size);
    return;
  }
  SizeVisitor size;
  Walker measure(size);
  prefix(measure, *blob.state, blob.dialect);
  walk_memories(measure, *blob.state, blob.dialect);
  io.u64("size", size.size());
  prefix(io, *blob.state, blob.dialect);
  walk_memories(io, *blob.state, blob.dialect);
}

std::string read_tail(Reader& io, Tail& t, const Dialect& slot) {
  const Scope in = io.scope("tail");
  std::string problem;
  Tail parsed;
  parsed.has_checkpoints = read_part(io, checkpoints_magic, problem,
                                     [&](Reader& r) { checkpoints(r, parsed, slot); });
  if (!parsed.has_checkpoints) parsed.checkpoints.clear();
  parsed.has_draft = problem.empty() && read_part(io, draft_magic, problem,
                                                  [&](Reader& r) { draft(r, parsed, slot); });
  t = std::move(parsed);
  const std::uint64_t rest = io.cursor().remaining();
  if (rest == 0) return {};
  const std::string bytes = first_bytes(io);
  io.opaque("trailing", t.trailing, rest);
  if (!problem.empty()) return problem;
  return fmt::format("{} bytes behind the state that are neither SCKP nor SDFT: {}{}", rest, bytes,
                     rest > 8 ? " ..." : "");
}

}  // namespace kvtool::format
