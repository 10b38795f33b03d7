#include <algorithm>

#include "support/tiny_old_dump.h"
#include "support/tiny_parts.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t f16 = 1;
constexpr std::uint32_t no_type = 0xffffffff;
constexpr std::uint32_t layers = 3;

bool has(const TinyDump& tiny, Piece piece) {
  return std::find(tiny.pieces.begin(), tiny.pieces.end(), piece) != tiny.pieces.end();
}

// Cell i stands at position i; in sessions the first belongs to two sequences.
void put_cells(Bytes& out, const TinyDump& tiny) {
  const Container kind = tiny.dialect.container;
  const bool ids = kind == Container::session || kind == Container::state;
  out.u32(tiny.cells);
  for (std::uint32_t i = 0; i < tiny.cells; ++i) {
    out.u32(i).u32(!ids ? 0 : i == 0 ? 2 : 1);
    if (ids) out.u32(0);
    if (ids && i == 0) out.u32(1);
  }
}

void put_keys(Bytes& out, const TinyDump& tiny) {
  for (std::uint32_t l = 0; l < layers; ++l) {
    if (tiny.gap && l == 0)
      out.u32(no_type).u64(0);
    else
      put_rows(out, f16, 4, tiny.cells);
  }
}

void put_values(Bytes& out, const TinyDump& tiny) {
  for (std::uint32_t l = 0; l < layers; ++l) {
    if (tiny.gap && l == 0)
      tiny.transposed ? out.u32(no_type).u32(0).u32(0) : out.u32(no_type).u64(0);
    else if (tiny.transposed)
      out.u32(f16).u32(2).u32(3).filler(std::size_t{3} * 2 * tiny.cells);
    else
      put_rows(out, f16, 6, tiny.cells);
  }
}

// Sessions hold the states of two slots, slot files of one.
void put_states(Bytes& out, const TinyDump& tiny) {
  const std::uint32_t rows = tiny.dialect.container == Container::session ? 2 : 1;
  for (std::uint32_t l = 0; l < layers; ++l) {
    out.u32(l == 0 ? f32 : no_type).u64(l == 0 ? 8 : 0).u32(l == 0 ? rows : 0);
    if (l == 0) out.filler(std::size_t{8} * rows);
  }
}

}  // namespace

void put_ik_state(Bytes& out, const TinyDump& tiny) {
  const bool has_v = tiny.pieces.front() == Piece::kv;
  put_cells(out, tiny);
  out.u32(!has_v ? 2 : tiny.transposed ? 1 : 0).u32(layers);
  put_keys(out, tiny);
  if (has_v) put_values(out, tiny);
  const bool states = has(tiny, Piece::recurrent);
  const bool index = has(tiny, Piece::fork_index);
  if (tiny.dialect.state_word) out.u32(states ? 1 : 0);
  if (states) put_states(out, tiny);
  if (tiny.dialect.index_word) out.u32(index ? 1 : 0);
  if (!index) return;
  put_rows(out, f16, 4, tiny.cells);
  put_rows(out, f16, 4, tiny.cells);
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
