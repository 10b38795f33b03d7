#include "support/tiny_dump.h"

#include <stdexcept>

#include "support/tiny_old_dump.h"
#include "support/tiny_parts.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t f32 = 0;

bool one_sequence(const Dialect& d) {
  return d.container == Container::slot || d.container == Container::sequence_state;
}

// Places of an image and ids of tokens follow the number of the cell.
void put_attention_cell(Bytes& out, const Dialect& d, const TinyCell& cell, std::uint32_t i) {
  const bool named = !one_sequence(d) || d.sequence_ids;
  out.i32(cell.position).u32(named ? static_cast<std::uint32_t>(cell.ids.size()) : 0);
  if (d.extension != CellExtension::none) out.u32(i).u32(i);
  if (d.extension == CellExtension::xy_token) out.u32(40 + i);
  if (!named) return;
  for (const std::int32_t id : cell.ids) out.i32(id);
}

void put_values(Bytes& out, const TinyDump& tiny, std::uint32_t cells) {
  const std::uint64_t row = bytes_of_type(tiny.type, tiny.v_width);
  for (std::uint32_t l = 0; l < tiny.layers; ++l) {
    if (!tiny.transposed) {
      put_rows(out, tiny.type, row, cells);
      continue;
    }
    out.u32(tiny.type).u32(static_cast<std::uint32_t>(row / tiny.v_width)).u32(tiny.v_width);
    out.filler(static_cast<std::size_t>(row) * cells);
  }
}

void put_stream(Bytes& out, const TinyDump& tiny, std::size_t stream, bool has_v) {
  const Dialect& d = tiny.dialect;
  const std::uint32_t cells = cells_of(tiny, stream);
  out.u32(cells);
  if (cells == 0 && d.streams) return;
  for (std::uint32_t i = 0; i < cells; ++i)
    put_attention_cell(out, d, cell_of(tiny, stream, i), i);
  out.u32(tiny.transposed ? 1 : 0).u32(tiny.layers);
  if (d.rotation) out.u32(64).u32(0);
  for (std::uint32_t l = 0; l < tiny.layers; ++l)
    put_rows(out, tiny.type, bytes_of_type(tiny.type, tiny.k_width), cells);
  if (has_v) put_values(out, tiny, cells);
}

void put_attention(Bytes& out, const TinyDump& tiny, bool has_v) {
  if (!tiny.dialect.streams) return put_stream(out, tiny, 0, has_v);
  out.u32(tiny.streams);
  for (std::uint32_t s = 0; s < tiny.streams; ++s) put_stream(out, tiny, s, has_v);
}

// One cell, at the last position, of a model of four layers of which two have a state.
void put_recurrent(Bytes& out, const TinyDump& tiny, bool ple) {
  const std::uint32_t cells = tiny.cells == 0 ? 0 : 1;
  out.u32(cells);
  if (cells == 1) {
    out.i32(static_cast<std::int32_t>(tiny.cells) - 1).u32(one_sequence(tiny.dialect) ? 0 : 1);
    if (!one_sequence(tiny.dialect)) out.i32(0);
  }
  out.u32(0).u32(4);
  put_rows(out, f32, 8, cells);
  if (ple) out.u64(20).filler(std::size_t{20} * cells);
  put_rows(out, f32, 8, cells);
  for (int l = 0; l < 2; ++l) put_rows(out, f32, 12, cells);
}

void put_dsv4_tensor(Bytes& out) { out.u32(1).u64(2).u64(3).u64(4).filler(12); }

void put_dsv4_body(Bytes& out) {
  for (int cache = 0; cache < 3; ++cache) {
    out.u32(2).u32(3).u32(1).u32(1).u32(0);
    put_dsv4_tensor(out);
  }
  for (int state = 0; state < 3; ++state) {
    out.u32(1).u32(4).u32(8).u32(2).u32(1).u32(1).u32(0);
    put_dsv4_tensor(out);
    put_dsv4_tensor(out);
  }
}

void put_piece(Bytes& out, const TinyDump& tiny, Piece piece) {
  switch (piece) {
    case Piece::kv: return put_attention(out, tiny, true);
    case Piece::keys: return put_attention(out, tiny, false);
    case Piece::recurrent: return put_recurrent(out, tiny, false);
    case Piece::recurrent_ple: return put_recurrent(out, tiny, true);
    case Piece::dsv4_head: out.text("DSV4").u32(1).u32(0); return;
    case Piece::dsv4_part_head: out.text("DSV4").u32(1).u32(1); return;
    case Piece::dsv4_body: return put_dsv4_body(out);
    case Piece::fork_index: return;  // see put_ik_state()
  }
}

void put_prelude(Bytes& out, const TinyDump& tiny) {
  const Dialect& d = tiny.dialect;
  if (d.container == Container::session) out.text("nsgg").u32(d.version);
  if (d.container == Container::slot) out.text("qsgg").u32(d.version);
  if (d.version != 0) put_tokens(out, tiny.cells);
  const bool mamba = !tiny.pieces.empty() && tiny.pieces.front() == Piece::recurrent;
  if (!one_sequence(d)) out.u32(5).text(mamba ? "mamba" : "llama");
  if (d.rng_text) {
    out.u32(rng_bytes);
    put_rng(out);
  }
  if (d.outputs) out.u32(1).i32(0).u64(3).f32(1).f32(2).f32(3).u64(2).f32(4).f32(5);
  if (d.prefix) out.u32(0xaf143cd8U).u32(0);
}

// A blob of the tail: the window cache of the same dialect.
void put_blob(Bytes& out, const TinyDump& tiny) {
  TinyDump inner = tiny;
  inner.dialect.container = Container::sequence_state;
  inner.dialect.version = 0;
  inner.dialect.prefix = true;
  inner.checkpoints = inner.draft = false;
  const ByteVector bytes = build(inner);
  out.u64(bytes.size()).append(bytes);
}

}  // namespace

std::uint32_t cells_of(const TinyDump& tiny, std::size_t stream) {
  if (!tiny.tables.empty())
    return stream < tiny.tables.size() ? static_cast<std::uint32_t>(tiny.tables[stream].size()) : 0;
  return stream == 0 ? tiny.cells : 0;
}

TinyCell cell_of(const TinyDump& tiny, std::size_t stream, std::uint32_t cell) {
  if (!tiny.tables.empty()) return tiny.tables.at(stream).at(cell);
  TinyCell plain{static_cast<std::int32_t>(cell), {0}};
  if (cell == 0 && !one_sequence(tiny.dialect)) plain.ids.push_back(1);
  return plain;
}

ByteVector build(const TinyDump& tiny) {
  if (tiny.dialect.body != Body::current) return build_old(tiny);
  Bytes out;
  put_prelude(out, tiny);
  if (tiny.dialect.family == Family::ik_llama) {
    put_ik_state(out, tiny);
    return out.get();
  }
  for (const Piece piece : tiny.pieces) put_piece(out, tiny, piece);
  if (tiny.checkpoints) {
    out.text("SCKP").u32(1).u32(1).u64(2).i32(0).i32(1);
    put_blob(out, tiny);
    out.u64(0).u64(0);
  }
  if (tiny.draft) {
    out.text("SDFT").u32(1);
    put_blob(out, tiny);
    out.u64(0);
  }
  return out.get();
}

namespace {

Dialect session(std::uint32_t version) {
  Dialect d;
  d.container = Container::session;
  d.version = version;
  d.rotation = version == 11;
  return d;
}

Dialect slot(std::uint32_t version) {
  Dialect d;
  d.container = Container::slot;
  d.version = version;
  d.rotation = version == 4;
  return d;
}

// Without a header: whole states, and sequence states with their prefix.
Dialect bare(Container container) {
  Dialect d;
  d.container = container;
  d.rotation = true;
  d.prefix = container == Container::sequence_state;
  return d;
}

Dialect with(Dialect d, CellExtension extension) {
  d.extension = extension;
  return d;
}

// As builds before February 2026 wrote it; `streams`: since July 2025.
Dialect with_outputs(Dialect d, bool streams, bool rng = false) {
  d.outputs = true;
  d.streams = streams;
  d.rng_text = rng;
  return d;
}

// As builds before July 2025 wrote a sequence; `ids`: those of May and June.
Dialect flat(Dialect d, bool ids) {
  d.streams = false;
  d.sequence_ids = ids;
  d.rotation = d.prefix = false;
  return d;
}

std::vector<TinyDump> tiny_current_dumps() {
  using enum Piece;
  using enum CellExtension;
  const Dialect now = session(11);
  const Dialect saved = slot(4);
  const Dialect state = bare(Container::state);
  const Dialect sequence = bare(Container::sequence_state);
  return {
      {"ggsn8.rng.outputs.flat/kv", with_outputs(session(8), false, true)},
      {"ggsn8.rng.outputs/recurrent", with_outputs(session(8), false, true), {recurrent}},
      {"ggsn9.outputs.flat/kv", with_outputs(session(9), false)},
      {"ggsn9.outputs.streams/kv", with_outputs(session(9), true), {kv}, true, 2},
      {"ggsn9.streams/kv", session(9)},
      {"ggsn9.streams.xy/kv", with(session(9), xy)},
      {"ggsn10.streams/kv", session(10), {kv}, true},
      {"ggsn10.streams.xyt/kv", with(session(10), xy_token), {kv}, false, 3},
      {"ggsn11.streams.rot/kv", now},
      {"ggsn11.streams.rot.xyt/kv", with(now, xy_token), {kv}, true},
      {"ggsn11.streams.rot/mla", now, {keys}},
      {"ggsn11.streams.rot/iswa", now, {kv, kv}, true},
      {"ggsn11/recurrent", now, {recurrent}},
      {"ggsn11.streams.rot/hybrid", now, {kv, recurrent}},
      {"ggsn11.streams.rot/hybrid-mla", now, {keys, recurrent}},
      {"ggsn11.streams.rot/hybrid-iswa", now, {kv, kv, recurrent}},
      {"ggsn11.streams.rot/dsa", now, {keys, keys}},
      {"ggsn11.streams.rot/dsa-iswa", now, {keys, keys, kv}},
      {"ggsn11.streams.rot.xyt/hybrid-idx", with(now, xy_token), {kv, recurrent_ple, keys}},
      {"ggsn11.streams.rot.xyt/hybrid-idx-v", with(now, xy_token), {kv, recurrent_ple, kv}},
      {"ggsn11.streams.rot/dsv4", now, {dsv4_head, kv, kv, dsv4_body}},
      {"ggsn11/none", now, {}},
      {"ggsq2.flat.noids/kv", flat(slot(2), false), {kv}, true},
      {"ggsq2.flat/kv", flat(slot(2), true)},
      {"ggsq2.streams.xy/kv", with(slot(2), xy)},
      {"ggsq3.streams/kv", slot(3), {kv}, true, 2},
      {"ggsq3.streams.xyt/kv", with(slot(3), xy_token)},
      {"ggsq4.streams/kv", saved, {kv}, false, 1, 0},
      {"ggsq4/recurrent", saved, {recurrent}, false, 1, 3, true},
      {"ggsq4.streams.rot/kv", saved, {kv}, true, 3, 3, true, true},
      {"ggsq4.streams.rot/iswa", saved, {kv, kv}, false, 1, 3, true},
      {"ggsq4.streams.rot/hybrid", saved, {kv, recurrent}, false, 1, 3, false, true},
      {"raw.streams.rot/kv", state},
      {"raw.streams.rot/hybrid", state, {kv, recurrent}},
      {"raw.outputs.flat/kv", with_outputs(flat(state, true), false)},
      {"raw.rng.outputs.flat/kv", with_outputs(flat(state, true), false, true)},
      {"rawseq.prefix.streams.rot/kv", sequence},
      {"rawseq.prefix.streams.rot.xyt/kv", with(sequence, xy_token), {kv}, true},
      {"rawseq.prefix.streams.rot/dsv4-partial", sequence, {dsv4_part_head, kv, kv}},
      {"rawseq.prefix/recurrent", sequence, {recurrent}},
      {"rawseq.flat.noids/kv", flat(sequence, false), {kv}, true},
  };
}

}  // namespace

const std::vector<TinyDump>& tiny_dumps() {
  static const std::vector<TinyDump> all = [] {
    std::vector<TinyDump> dumps = tiny_current_dumps();
    for (const auto& more : {tiny_old_dumps(), tiny_ik_dumps()})
      dumps.insert(dumps.end(), more.begin(), more.end());
    return dumps;
  }();
  return all;
}

const TinyDump& tiny_dump(const std::string& layout) {
  for (const TinyDump& tiny : tiny_dumps())
    if (layout == tiny.layout) return tiny;
  throw std::logic_error("no tiny dump is named " + layout);
}

}  // namespace kvtool::test
