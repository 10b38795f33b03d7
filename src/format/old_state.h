// Sessions of before August 2024 (slot files of that time: old_slot.h).
//
//   session  u32 magic, u32 version 0 to 7, header struct (header_struct.h), tokens, then:
//
//   versions 0 to 3   u64 rng_size, rng, zeros up to 65536 bytes,
//                     u64 logits_capacity, u64 n_logits, f32[n_logits], filler up to the capacity
//   version 4 on      u64 rng_size, rng, [u64 n_outputs, i32 output_id[n_outputs]: 5 on],
//                     u64 n_logits, f32[n_logits]
//   all               u64 n_embd, f32[n_embd]
//   version 0         u64 pool_size, i32 count, record, K, record, V, unused memory: whole context
//   version 1         u64 pool_size, u32 count, K of all layers, V of all layers
//   version 2         u64 pool_size, u32 head, u32 size, [u32 used], K, V as 1, cells
//   versions 3, 4     u64 pool_size, u32 head, u32 size, u32 used; for each layer K, V; cells
//   versions 5 to 7   u64 kv_size, u32 head, u32 size, u32 used, [u32 v_trans: 6 on]; as 4
//   cell              i32 pos, u64 n_seq, i32 seq_id[n_seq]; an unused one has pos -1 and none
//
//   K has head rows a layer; V is transposed unless v_trans is 0 or the model is recurrent.
//   Versions 2, 3 and 4 until 2024-03-03 list all `size` cells, and those from head on have no K
//   and V; later ones list head cells. Types are not stored.
#pragma once

#include <string>
#include <vector>

#include "format/attention.h"
#include "format/old_slot.h"
#include "format/state.h"
#include "kvtool/open.h"

namespace kvtool::format {

// All ways of reading what follows the prelude of `dump`, one for each pair of types that fits;
// what did not read is noted. `wanted`: only these types, and what is said of the shape of a bare
// state, which is laid out like a session of its time from the generator's text on.
struct WantedTypes {
  std::optional<ElementType> k;
  std::optional<ElementType> v;
  std::optional<BareShape> bare;
};
std::vector<StateReading> read_old_states(const Reader& io, const Dump& dump,
                                          const WantedTypes& wanted, const std::string& attempt,
                                          Furthest& furthest);

// Throws Error(refused) for the bare state of a session of version 0: which of its cells are in
// use, only the token list of a session tells.
void refuse_bare_pool(Window& window);

namespace old {

inline constexpr std::uint64_t object_record_bytes = 32;
// What the pool of versions 0 and 1 has besides K and V.
inline constexpr std::uint64_t pool_slack_bytes = 2U << 20U;

inline std::uint64_t record_bytes(const Dialect& d) {
  return object_record_bytes + (d.long_records ? 208 : 176);
}

// Bytes of K and V of all layers.
std::uint64_t tensor_bytes(const Stream& stream);
// Cells that a sequence uses.
std::uint64_t used_cells(const Stream& stream);
// Throws Error(refused) unless cell i is position i of the one sequence, and unused ones come last:
// versions 0 and 1 have no other place for a cell. Version 0 also holds the whole context.
void require_plain_order(const State& state, const Dialect& dialect);

// Throws Error(refused) if there are more cells than the cache had, as far as the file tells that.
void require_in_cache(const State& state);

// The words before K and V. `head`: cells that have K and V.
template <class Io, class AnyState>
void words(Io& io, AnyState& state, const Dialect& d, std::uint32_t& head) {
  auto& cache = state.old;
  auto& stream = state.memories.front().streams.front();
  std::uint64_t bytes = cache.pool_bytes;
  if constexpr (!Io::reads)
    if (d.body >= Body::output_ids) bytes = tensor_bytes(stream);
  io.u64(d.body >= Body::output_ids ? "kv_size" : "pool_size", bytes);
  if constexpr (Io::reads) cache.pool_bytes = bytes;
  if (d.body == Body::pool) return io.i32("count", cache.count);
  const bool named = d.body != Body::k_then_v;
  head = io.count(named ? "head" : "count", head, 0, most_cells);
  if (!named) return;
  io.u32("size", cache.context);
  std::uint32_t used = 0;
  if constexpr (!Io::reads)
    used = static_cast<std::uint32_t>(static_cast<std::int64_t>(used_cells(stream)) +
                                      cache.used_surplus);
  if (d.used_word) io.u32("used", used);
  if constexpr (Io::reads) cache.used_surplus = used;  // minus the used cells, once they are known
  if (d.body == Body::v_flag) io.flag("v_trans", stream.v_transposed);
}

template <class Io, class AnyStream, class AnyLayer>
void tensor(Io& io, AnyStream& stream, AnyLayer& layer, std::size_t l, TensorOfLayer part,
            const char* name) {
  const Scope in = io.scope("layer", l);
  io.tensor(name, stream, layer, part);
}

struct DataNames {
  const char* k = "k_data";
  const char* v = "v_data";
};

template <class Io, class AnyStream>
void all_of(Io& io, AnyStream& stream, TensorOfLayer part, const char* name) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l)
    tensor(io, stream, stream.layers[l], l, part, name);
}

template <class Io, class AnyStream>
void by_layer(Io& io, AnyStream& stream, const DataNames& names) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    tensor(io, stream, stream.layers[l], l, &Layer::k, names.k);
    tensor(io, stream, stream.layers[l], l, &Layer::v, names.v);
  }
}

// Throws unless the object record at `record` tells of a tensor of `bytes` bytes, and the pool is
// as large as the builds made it: that tells the sizes of records and elements, which are not
// stored.
void require_record(const Reader& io, const Extent& record, const State& state, TensorOfLayer part);

// The memory pool of the cache, with its records and what it had not given away.
template <class Io, class AnyState>
void pool(Io& io, AnyState& state, const Dialect& d) {
  auto& stream = state.memories.front().streams.front();
  const std::uint64_t record = record_bytes(d);
  io.opaque("k_record", state.old.k_record, record);
  all_of(io, stream, &Layer::k, "k_data");
  if constexpr (Io::reads) require_record(io, state.old.k_record, state, &Layer::k);
  io.opaque("v_record", state.old.v_record, record);
  all_of(io, stream, &Layer::v, "v_data");
  if constexpr (Io::reads) require_record(io, state.old.v_record, state, &Layer::v);
  const std::uint64_t taken = 2 * record + tensor_bytes(stream);
  if constexpr (Io::reads)
    io.require(taken <= state.old.pool_bytes, io.offset(), "unused",
               "K and V do not fit into pool_size");
  io.opaque("unused", state.old.unused, state.old.pool_bytes - taken);
}

template <class Io, class AnyState>
void tensors(Io& io, AnyState& state, const Dialect& d) {
  auto& memory = state.memories.front();
  auto& stream = memory.streams.front();
  if (d.body == Body::pool) return pool(io, state, d);
  const DataNames names =
      memory.kind == MemoryKind::recurrent ? DataNames{"r_data", "s_data"} : DataNames{};
  if (d.body >= Body::by_layer) return by_layer(io, stream, names);
  all_of(io, stream, &Layer::k, names.k);
  all_of(io, stream, &Layer::v, names.v);
}

template <class Io>
void cell(Io& io, std::size_t index, StoredCell& c) {
  const Scope in = io.scope("cell", index);
  io.i32("pos", c.position);
  std::uint64_t n = c.ids.size();
  io.u64("n_seq", n);
  if constexpr (Io::reads) {
    const bool fits = n <= io.cursor().remaining() / 4 && n <= most_cells;
    io.require(fits, io.offset() - 8, "n_seq", std::to_string(n) + " ids do not fit");
    io.require(io.strictness() != Strictness::plausible || (c.position >= 0) == (n > 0),
               io.offset() - 12, "pos",
               "expected -1 and no sequence, or neither, found " + std::to_string(c.position));
    c.ids.resize(static_cast<std::size_t>(n));
  }
  for (SequenceId& id : c.ids) io.sequence_id("seq_id", id);
  if constexpr (Io::reads) io.sequence_ids(c.ids);
}

// Reads the listed cells into the stream. `head` of them have K and V.
void read_cells(Reader& io, State& state, const Dialect& d, std::uint32_t head);
// Presents the listed cells.
template <class Io>
void show_cells(Io& io, const State& state, const Dialect& d) {
  const Stream& stream = state.memories.front().streams.front();
  std::size_t index = 0;
  auto show = [&](const CellTable& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto ids = table.sequences(i);
      StoredCell c{table.position(i), {}, {ids.begin(), ids.end()}};
      cell(io, index++, c);
    }
  };
  show(stream.cells);
  show(stream.beyond);
  if (!d.lists_all) return;
  for (StoredCell unused{-1, {}, {}}; index < state.old.context;) cell(io, index++, unused);
}

}  // namespace old

// Presents the memories of such a state.
template <class Io>
void old_state(Io& io, const State& state, const Dialect& d) {
  if (d.body == Body::typed_slot) return old::typed_slot(io, state);
  if (d.body == Body::pool || d.body == Body::k_then_v) old::require_plain_order(state, d);
  old::require_in_cache(state);
  const Scope in = io.scope("memory", 0);
  const Scope in_stream = io.scope("stream", 0);
  auto head = static_cast<std::uint32_t>(state.memories.front().streams.front().cells.size());
  old::words(io, state, d, head);
  old::tensors(io, state, d);
  if (d.body >= Body::cells) old::show_cells(io, state, d);
}

}  // namespace kvtool::format
