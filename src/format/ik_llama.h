// The state of ik_llama.cpp, which left llama.cpp in mid 2024 and kept its magics and numbers.
//
//   u32 cell_count, cell_count times: i32 pos, u32 n_seq, i32 seq_id[n_seq]   (slot files: n_seq 0)
//   u32 v_state      0: V in rows, 1: V transposed, 2: no V at all (MLA)
//   u32 n_layer      of the model; then for each: i32 k_type, u64 k_row, byte k_data[cell_count * k_row]
//   v_state 0        for each layer: i32 v_type, u64 v_row, byte v_data[cell_count * v_row]
//   v_state 1        for each layer: i32 v_type, u32 v_el, u32 v_dim, v_dim rows of cell_count elements
//                    a layer without a cache has type -1, sizes 0 and no data
//   u32 has_states   since version 3 / 9 (February 2026).  1: for each layer
//                    i32 s_type, u64 s_row, u32 s_rows, byte s_data[s_rows * s_row]; -1, 0, 0: none
//   u32 has_index    since version 4 / 10 (July 2026).     1: for each layer that has one
//                    i32 k_type, u64 k_row, byte k_data[cell_count * k_row]
//
// Slot files: magic, version, ids, state. Sessions keep the generator's text and the outputs behind
// the arch at all versions. Version 2 / 8 without missing layers, fork types or v_state 2 is byte for
// byte what llama.cpp wrote in 2024, and reads as that.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "format/attention.h"
#include "format/state.h"

namespace kvtool::format {

// All readings of the bytes from `io` on as such a state: one, or none with the reason noted.
std::vector<StateReading> read_ik_state(const Reader& io, const Dialect& dialect,
                                        const std::string& attempt, Furthest& furthest);

// Throws Error(unsupported) that names the layout if the state begins with the magic of one that the
// fork writes and no file of which has been seen (compressed windows, openPangu).
void refuse_unseen_ik_llama(Window& window, std::uint32_t magic);

// True when something in a state is not as llama.cpp would have written it.
[[nodiscard]] bool shows_fork(const State& state);

namespace ik {

inline bool is_absent(const Tensor& tensor) { return tensor.orientation == Orientation::absent; }

inline constexpr std::uint32_t v_in_rows = 0;
inline constexpr std::uint32_t v_transposed = 1;
inline constexpr std::uint32_t no_v = 2;

// What stands in v_state. Without any K and V it is V in rows that are missing.
inline std::uint32_t v_state_of(const Stream& stream) {
  auto has = [&](TensorOfLayer part) {
    return std::any_of(stream.layers.begin(), stream.layers.end(),
                       [&](const Layer& layer) { return !is_absent(layer.*part); });
  };
  if (stream.v_transposed != 0) return v_transposed;
  return has(&Layer::v) || !has(&Layer::k) ? v_in_rows : no_v;
}

// The type word of a tensor; the answer says whether there is one.
template <class Io, class AnyTensor>
bool type_of(Io& io, AnyTensor& tensor, const char* field) {
  std::optional<ElementType> type;
  if constexpr (!Io::reads)
    if (!is_absent(tensor)) type = tensor.type;
  io.type_or_none(field, type);
  if constexpr (Io::reads) tensor.type = type.value_or(ElementType::f32);
  return type.has_value();
}

// A size word of a tensor that is not there.
template <class Io>
void no_size(Io& io, const char* field) {
  std::uint64_t size = 0;
  io.u64(field, size);
  if constexpr (Io::reads)
    io.require(size == 0, io.offset() - 8, field,
               "expected 0 for a layer without a cache, found " + std::to_string(size));
}

template <class Io, class AnyStream, class AnyLayer>
void rows(Io& io, AnyStream& stream, AnyLayer& layer, TensorOfLayer part, const RowNames& names) {
  auto& tensor = layer.*part;
  if (!type_of(io, tensor, names.type)) return no_size(io, names.row);
  io.row_size(names.row, tensor.row_bytes, tensor.type);
  if constexpr (Io::reads) {
    io.require(tensor.row_bytes > 0, io.offset() - 8, names.row, "expected 1 or more, found 0");
    tensor.orientation = Orientation::rows;
  }
  io.tensor(names.data, stream, layer, part);
}

template <class Io, class AnyStream, class AnyLayer>
void columns(Io& io, AnyStream& stream, AnyLayer& layer) {
  if (!type_of(io, layer.v, "v_type")) {
    io.constant("v_el", 0);
    return io.constant("v_dim", 0);
  }
  channels(io, stream, layer);
}

template <class Io, class AnyStream>
void layers(Io& io, AnyStream& stream, std::uint32_t v_state) {
  auto each = [&](auto&& one) {
    for (std::size_t l = 0; l < stream.layers.size(); ++l) {
      const Scope in = io.scope("layer", l);
      one(stream.layers[l]);
    }
  };
  each([&](auto& layer) { ik::rows(io, stream, layer, &Layer::k, k_names); });
  if (v_state == no_v) return;
  each([&](auto& layer) {
    v_state == v_transposed ? ik::columns(io, stream, layer)
                            : ik::rows(io, stream, layer, &Layer::v, v_names);
  });
}

// The word v_state, and what it says about V.
template <class Io, class AnyStream>
std::uint32_t v_state(Io& io, AnyStream& stream) {
  std::uint32_t state = v_in_rows;
  if constexpr (!Io::reads) state = v_state_of(stream);
  io.u32("v_state", state);
  if constexpr (Io::reads) {
    io.require(state <= no_v, io.offset() - 4, "v_state",
               "expected 0, 1 or 2, found " + std::to_string(state));
    stream.v_transposed = state == v_transposed ? 1 : 0;
  }
  return state;
}

template <class Io, class AnyStream>
void cache(Io& io, AnyStream& stream, const Dialect& dialect) {
  io.begin_stream(stream);
  const SequenceIds allowed = attention_ids(dialect);
  const std::uint32_t n = io.count("cell_count", stream.cells.size(),
                                   least_cell_bytes(CellExtension::none, allowed), most_cells);
  cells(io, stream.cells, n, CellExtension::none, allowed);
  if constexpr (Io::reads) {
    if (n > 1) io.completed();
    // Likelier than a recurrent state of llama.cpp with so many cells, which would read alike.
    if (n > 1 && dialect.state_word) io.completed();
  }
  const std::uint32_t state = v_state(io, stream);
  const std::uint32_t layers = io.count("n_layer", stream.layers.size(), 12, most_layers);
  if constexpr (Io::reads) {
    io.require(layers > 0, io.offset() - 4, "n_layer", "expected 1 or more, found 0");
    stream.layers.resize(layers);
    note_origin(stream, n);
  }
  ik::layers(io, stream, state);
  if constexpr (Io::reads)
    io.require(state == v_state_of(stream), io.offset(), "v_state",
               "says that there is a V, and no layer has one");
}

// True when the word is there and says that something follows.
template <class Io>
bool follows(Io& io, bool word, const char* field, bool has) {
  if (!word) return false;
  std::uint32_t flag = has ? 1 : 0;
  io.flag(field, flag);
  return flag != 0;
}

template <class Io, class AnyStream, class AnyLayer>
void state_row(Io& io, AnyStream& stream, AnyLayer& layer, [[maybe_unused]] std::uint32_t least) {
  auto& tensor = layer.v;
  if (!type_of(io, tensor, "s_type")) {
    no_size(io, "s_row");
    return io.constant("s_rows", 0);
  }
  io.row_size("s_row", tensor.row_bytes, tensor.type);
  const std::uint32_t rows = io.count("s_rows", stream.cells.size(), 0, most_cells);
  if constexpr (Io::reads) {
    io.require(rows >= least && (stream.cells.empty() || stream.cells.size() == rows),
               io.offset() - 4, "s_rows",
               "expected as many rows as other layers have, found " + std::to_string(rows));
    io.require(rows <= io.cursor().remaining() / std::max<std::uint64_t>(1, tensor.row_bytes),
               io.offset(), "s_data", std::to_string(rows) + " rows do not fit");
    if (stream.cells.empty()) stream.cells.append_unread(rows);
    tensor.orientation = Orientation::rows;
  }
  io.tensor("s_data", stream, layer, &Layer::v);
}

// One state a sequence; which sequence a row belongs to is not stored, so the rows have no labels
// until label_states() gives them those of the cache. There is at least one beside a cache with cells.
template <class Io, class AnyMemory>
void states(Io& io, AnyMemory& memory, const Stream& cache) {
  const std::uint32_t least = cache.cells.empty() ? 0 : 1;
  auto& stream = memory.streams.front();
  io.begin_stream(stream);
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    state_row(io, stream, stream.layers[l], least);
  }
  if constexpr (Io::reads)  // one without rows before others that have some
    for (const Layer& layer : stream.layers)
      io.require(is_absent(layer.v) ||
                     layer.v.extent.size == layer.v.row_bytes * stream.cells.size(),
                 layer.v.extent.offset - 4, "s_rows", "expected as many rows as other layers have");
}

// Index rows of the cells of the cache; `layers` have them.
template <class Io, class AnyMemory>
void index(Io& io, AnyMemory& memory) {
  auto& stream = memory.streams.front();
  io.begin_stream(stream);
  const Scope in_stream = io.scope("stream", 0);
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    ik::rows(io, stream, stream.layers[l], &Layer::k, k_names);
  }
}

// A memory of a kind, or nullptr.
template <class AnyState>
auto* memory_of_role(AnyState& state, const char* role) {
  for (auto& memory : state.memories)
    if (memory.role == role) return &memory;
  return static_cast<decltype(&state.memories.front())>(nullptr);
}

// Makes room for what the word announces. Reading only.
Memory& add_states(State& state);
Memory& add_index(Reader& io, State& state);
// Positions and sequences of the rows, from the cells of the cache.
void label_states(State& state, const Dialect& dialect);

}  // namespace ik

template <class Io, class AnyState>
void ik_state(Io& io, AnyState& state, const Dialect& dialect) {
  if constexpr (Io::reads) {
    state.memories.resize(1);
    state.memories.front().role = "main";
    state.memories.front().streams.resize(1);
  }
  {
    const Scope in = io.scope("memory", 0);
    const Scope in_stream = io.scope("stream", 0);
    ik::cache(io, state.memories.front().streams.front(), dialect);
  }
  auto* recurrent = ik::memory_of_role(state, "recurrent");
  if (ik::follows(io, dialect.state_word, "has_states", recurrent != nullptr)) {
    if constexpr (Io::reads) recurrent = &ik::add_states(state);
    const Scope in = io.scope("memory", 1);
    ik::states(io, *recurrent, state.memories.front().streams.front());
    if constexpr (Io::reads) ik::label_states(state, dialect);
  }
  auto* indices = ik::memory_of_role(state, "index");
  if (ik::follows(io, dialect.index_word, "has_index", indices != nullptr)) {
    if constexpr (Io::reads) indices = &ik::add_index(io, state);
    const Scope in = io.scope("memory", state.memories.size() - 1);
    ik::index(io, *indices);
  }
}

}  // namespace kvtool::format
