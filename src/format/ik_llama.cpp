#include "format/ik_llama.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// States that begin with a magic of their own, from the fork's sources.
struct UnseenLayout {
  std::uint32_t magic;
  const char* what;
};
constexpr UnseenLayout unseen[] = {
    {0x53574143, "a compressed window cache (SWAC, --swa-compress)"},
    {0x50414732, "a cache of openPangu (PAG2)"},
    {0x50414731, "a cache of openPangu (PAG1)"},
};

// How many index rows stand from `io` on: headers of rows of `cells` cells, up to the file's end.
std::uint32_t count_index_rows(Reader io, const Stream& like, std::uint32_t most) {
  Stream stream;
  stream.cells = like.cells;
  std::uint32_t rows = 0;
  while (rows < most && io.cursor().remaining() > 0) {
    Layer layer;
    ik::rows(io, stream, layer, &Layer::k, k_names);
    ++rows;
  }
  return rows;
}

std::string arrangement_of(const State& state) {
  const bool has_states = ik::memory_of_role(state, "recurrent") != nullptr;
  const bool has_index = ik::memory_of_role(state, "index") != nullptr;
  const bool has_v = stores_v(state.memories.front());
  if (has_index) return has_v ? "kv-index" : "mla-index";
  if (has_states) return has_v ? "hybrid" : "hybrid-mla";
  return has_v ? "kv" : "mla";
}

// The last position of a sequence in a cache; `one` takes all cells for its.
std::optional<Position> last_position(const CellTable& cells, SequenceId id, bool one) {
  std::optional<Position> last;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto ids = cells.sequences(c);
    const bool member = one || std::find(ids.begin(), ids.end(), id) != ids.end();
    if (member && (!last || cells.position(c) > *last)) last = cells.position(c);
  }
  return last;
}

}  // namespace

namespace ik {

Memory& add_states(State& state) {
  Memory memory;
  memory.kind = MemoryKind::recurrent;
  memory.role = "recurrent";
  memory.model_layers =
      static_cast<std::uint32_t>(state.memories.front().streams.front().layers.size());
  memory.streams.resize(1);
  memory.streams.front().layers.resize(memory.model_layers);
  return state.memories.emplace_back(std::move(memory));
}

Memory& add_index(Reader& io, State& state) {
  const Stream& main = state.memories.front().streams.front();
  Memory memory;
  memory.role = "index";
  memory.streams.resize(1);
  Stream& stream = memory.streams.front();
  stream.cells = main.cells;
  const auto most = static_cast<std::uint32_t>(main.layers.size());
  stream.layers.resize(count_index_rows(io, stream, most));
  io.require(!stream.layers.empty(), io.offset() - 4, "has_index", "says 1, and no rows follow");
  stream.ordinal = io.next_stream();
  note_origin(stream, static_cast<std::uint32_t>(stream.cells.size()));
  return state.memories.emplace_back(std::move(memory));
}

void label_states(State& state, const Dialect& dialect) {
  const bool one = holds_one_sequence(dialect);
  const CellTable& cells = state.memories.front().streams.front().cells;
  Stream& stream = state.memories.back().streams.front();
  const std::size_t rows = stream.cells.size();
  stream.cells = CellTable();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto id = static_cast<SequenceId>(row);
    const auto last = last_position(cells, id, one);
    const std::vector<SequenceId> ids(one || !last ? 0 : 1, id);
    stream.cells.append(last.value_or(0), ids);
  }
  note_origin(stream, static_cast<std::uint32_t>(rows));
}

}  // namespace ik

std::vector<StateReading> read_ik_state(const Reader& io, const Dialect& dialect,
                                        const std::string& attempt, Furthest& furthest) {
  Reader ahead(io);
  ahead.set_skims(false);  // layers differ from each other
  State state;
  try {
    ik_state(ahead, state, dialect);
  } catch (const Error& error) {
    furthest.note(error, attempt, ahead.progress());
    return {};
  }
  state.arrangement = arrangement_of(state);
  return {{std::move(state), ahead}};
}

bool shows_fork(const State& state) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers) {
        if (ik::is_absent(layer.k) || ik::is_absent(layer.v)) return true;
        if (info(layer.k.type).fork_only || info(layer.v.type).fork_only) return true;
      }
  return false;
}

void refuse_unseen_ik_llama(Window& window, std::uint32_t magic) {
  if (magic != slot_magic) return;
  Cursor cursor(window, {0, window.size()});
  std::uint32_t n_token = 0;
  std::uint32_t word = 0;
  if (!cursor.skip(8) || !cursor.take(n_token) || !cursor.skip(std::uint64_t{4} * n_token)) return;
  const std::uint64_t at = cursor.offset();
  if (!cursor.take(word)) return;
  for (const UnseenLayout& layout : unseen)
    if (word == layout.magic)
      throw Error(ErrorKind::unsupported, Place{at, "memory[0].magic"},
                  fmt::format("{} of ik_llama.cpp; no file of this layout was ever seen, so kvtool "
                              "does not read it",
                              layout.what));
}

}  // namespace kvtool::format
