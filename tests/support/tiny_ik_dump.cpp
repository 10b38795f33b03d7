#include <algorithm>

#include "support/tiny_old_dump.h"
#include "support/tiny_parts.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t no_type = 0xffffffff;

bool has(const TinyDump& tiny, Piece piece) {
  return std::find(tiny.pieces.begin(), tiny.pieces.end(), piece) != tiny.pieces.end();
}

// One layer can be without a cache.
std::uint32_t layers_of(const TinyDump& tiny) { return tiny.layers + 1; }

void put_cells(Bytes& out, const TinyDump& tiny) {
  const Container kind = tiny.dialect.container;
  const bool named = kind == Container::session || kind == Container::state;
  out.u32(cells_of(tiny, 0));
  for (std::uint32_t i = 0; i < cells_of(tiny, 0); ++i) {
    const TinyCell cell = cell_of(tiny, 0, i);
    out.i32(cell.position).u32(named ? static_cast<std::uint32_t>(cell.ids.size()) : 0);
    if (!named) continue;
    for (const std::int32_t id : cell.ids) out.i32(id);
  }
}

void put_keys(Bytes& out, const TinyDump& tiny) {
  for (std::uint32_t l = 0; l < layers_of(tiny); ++l) {
    if (tiny.gap && l == 0)
      out.u32(no_type).u64(0);
    else
      put_rows(out, tiny.type, bytes_of_type(tiny.type, tiny.k_width), cells_of(tiny, 0));
  }
}

void put_values(Bytes& out, const TinyDump& tiny) {
  const std::uint64_t row = bytes_of_type(tiny.type, tiny.v_width);
  for (std::uint32_t l = 0; l < layers_of(tiny); ++l) {
    if (tiny.gap && l == 0) {
      tiny.transposed ? out.u32(no_type).u32(0).u32(0) : out.u32(no_type).u64(0);
    } else if (tiny.transposed) {
      out.u32(tiny.type).u32(static_cast<std::uint32_t>(row / tiny.v_width)).u32(tiny.v_width);
      out.filler(static_cast<std::size_t>(row) * cells_of(tiny, 0));
    } else {
      put_rows(out, tiny.type, row, cells_of(tiny, 0));
    }
  }
}

// Sessions hold the states of two slots, slot files of one.
void put_states(Bytes& out, const TinyDump& tiny) {
  const std::uint32_t rows = tiny.dialect.container == Container::session ? 2 : 1;
  for (std::uint32_t l = 0; l < layers_of(tiny); ++l) {
    out.u32(l == 0 ? f32 : no_type).u64(l == 0 ? 8 : 0).u32(l == 0 ? rows : 0);
    if (l == 0) out.filler(std::size_t{8} * rows);
  }
}

}  // namespace

void put_ik_state(Bytes& out, const TinyDump& tiny) {
  const bool has_v = tiny.pieces.front() == Piece::kv;
  put_cells(out, tiny);
  out.u32(!has_v ? 2 : tiny.transposed ? 1 : 0).u32(layers_of(tiny));
  put_keys(out, tiny);
  if (has_v) put_values(out, tiny);
  const bool states = has(tiny, Piece::recurrent);
  const bool index = has(tiny, Piece::fork_index);
  if (tiny.dialect.state_word) out.u32(states ? 1 : 0);
  if (states) put_states(out, tiny);
  if (tiny.dialect.index_word) out.u32(index ? 1 : 0);
  if (!index) return;
  constexpr std::uint32_t f16 = 1;
  for (int rows = 0; rows < 2; ++rows) put_rows(out, f16, 4, cells_of(tiny, 0));
}

namespace {

// `words`: how many of the two words behind K and V there are.
Dialect fork(Container container, std::uint32_t version, int words) {
  Dialect d;
  d.family = Family::ik_llama;
  d.container = container;
  d.version = version;
  d.rng_text = d.outputs = container == Container::session || container == Container::state;
  d.streams = d.sequence_ids = false;
  d.state_word = words > 0;
  d.index_word = words > 1;
  return d;
}

TinyDump dump(const char* layout, const Dialect& dialect, std::vector<Piece> pieces,
              bool transposed = false, bool gap = false) {
  TinyDump tiny{layout, dialect, std::move(pieces), transposed};
  tiny.gap = gap;
  return tiny;
}

}  // namespace

std::vector<TinyDump> tiny_ik_dumps() {
  using enum Piece;
  using enum Container;
  return {
      dump("ggsn8.ik/mla", fork(session, 8, 0), {keys}),
      dump("ggsn9.ik/kv", fork(session, 9, 1), {kv}, true),
      dump("ggsn9.ik/hybrid", fork(session, 9, 1), {kv, recurrent}, false, true),
      dump("ggsn10.ik/kv", fork(session, 10, 2), {kv}),
      dump("ggsn10.ik/mla-index", fork(session, 10, 2), {keys, fork_index}),
      dump("ggsq2.ik/kv", fork(slot, 2, 0), {kv}, false, true),
      dump("ggsq2.ik/kv", fork(slot, 2, 0), {kv}, true, true),
      dump("ggsq2.ik/mla", fork(slot, 2, 0), {keys}),
      dump("ggsq3.ik/kv", fork(slot, 3, 1), {kv}, true),
      dump("ggsq3.ik/hybrid", fork(slot, 3, 1), {kv, recurrent}, true, true),
      dump("ggsq3.ik/hybrid-mla", fork(slot, 3, 1), {keys, recurrent}, false, true),
      dump("ggsq4.ik/kv", fork(slot, 4, 2), {kv}),
      dump("ggsq4.ik/mla", fork(slot, 4, 2), {keys}),
      dump("ggsq4.ik/kv-index", fork(slot, 4, 2), {kv, fork_index}, true),
      dump("raw.ik/kv", fork(state, 0, 2), {kv}),
      dump("rawseq.ik/hybrid", fork(sequence_state, 0, 1), {kv, recurrent}, false, true),
  };
}

}  // namespace kvtool::test
