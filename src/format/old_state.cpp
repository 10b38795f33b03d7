#include "format/old_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "format/bare_shape.h"
#include "format/walker.h"
#include "kvtool/checked.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace old {

void header(Reader& io, Dump& dump) {
  const HeaderLayout& layout = header_layout(dump.dialect.header);
  const Scope in = io.scope("header");
  io.bytes("n_vocab", dump.header, layout.size);
  const HeaderFlaw flaw = flaw_of_header(layout.id, dump.header);
  io.require(flaw.problem.empty(), io.offset() - layout.size + flaw.offset, flaw.field.c_str(),
             flaw.problem);
}

void header(Walker& io, const Dump& dump) {
  const Scope in = io.scope("header");
  const std::span<const std::byte> bytes = dump.header;
  std::size_t at = 0;
  auto padding_to = [&](std::size_t offset) {
    if (offset > at) io.bytes("padding", bytes.subspan(at, offset - at));
  };
  for (const HeaderField& field : header_layout(dump.dialect.header).fields) {
    padding_to(field.offset);
    io.bytes(field.name.c_str(), bytes.subspan(field.offset, field.bytes()));
    at = field.offset + field.bytes();
  }
  padding_to(bytes.size());
}

std::uint64_t tensor_bytes(const Stream& stream) {
  return checked_multiply(stream.cell_bytes(), stream.cells.size());
}

std::uint64_t used_cells(const Stream& stream) {
  std::uint64_t used = 0;
  for (const CellTable* table : {&stream.cells, &stream.beyond})
    for (std::size_t i = 0; i < table->size(); ++i) used += table->sequences(i).empty() ? 0 : 1;
  return used;
}

void require_plain_order(const State& state, const Dialect& dialect) {
  const CellTable& cells = state.memories.front().streams.front().cells;
  std::size_t used = 0;
  while (used < cells.size() && cells.position(used) == static_cast<Position>(used)) ++used;
  bool plain = true;
  for (std::size_t i = used; i < cells.size(); ++i) plain = plain && cells.position(i) < 0;
  if (dialect.body == Body::k_then_v) plain = plain && used == cells.size();
  if (!plain)
    throw Error(
        ErrorKind::refused,
        fmt::format("sessions of version {} list no cells: cell i is position i of the only "
                    "sequence, and this order has no place in one; convert it first",
                    dialect.body == Body::pool ? 0 : 1));
  if (dialect.body == Body::pool && cells.size() != state.old.context)
    throw Error(
        ErrorKind::refused,
        fmt::format("sessions of version 0 hold the cache of the whole context, {} cells, and "
                    "the output would have {}: convert it to version 1 first (kvtool convert --to "
                    "ggsn1.j32), and back with --like this file",
                    state.old.context, cells.size()));
}

void require_in_cache(const State& state) {
  const Stream& stream = state.memories.front().streams.front();
  const std::size_t cells = stream.cells.size() + stream.beyond.size();
  if (state.old.context == 0 || cells <= state.old.context) return;
  throw Error(ErrorKind::refused,
              fmt::format("the cache that the file is of has {} cells, and the output would have "
                          "{}: sessions of before August 2024 hold no more (kvtool convert makes "
                          "one that can)",
                          state.old.context, cells));
}

void require_record(const Reader& io, const Extent& record, const State& state,
                    TensorOfLayer part) {
  const Stream& stream = state.memories.front().streams.front();
  std::uint64_t bytes = record.size - object_record_bytes;
  for (const Layer& layer : stream.layers)
    bytes = checked_add(bytes, checked_multiply((layer.*part).cell_bytes(), stream.cells.size()));
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  Reader inside = io.inside(record);
  inside.u64("offset", offset);
  inside.u64("size", size);
  io.require(size == bytes, record.offset + 8, part == &Layer::k ? "k_record" : "v_record",
             fmt::format("expected an object of {} bytes, found {}", bytes, size));
  io.require(state.old.pool_bytes == tensor_bytes(stream) + pool_slack_bytes, record.offset,
             "pool_size",
             fmt::format("expected {} bytes of K and V and 2 MiB, found {}", tensor_bytes(stream),
                         state.old.pool_bytes));
}

void read_cells(Reader& io, State& state, const Dialect& d, std::uint32_t head) {
  Stream& stream = state.memories.front().streams.front();
  const std::uint32_t listed = d.lists_all ? state.old.context : head;
  io.require(listed >= head, io.offset(), "cell[0].pos",
             fmt::format("head is {}, and there are {} cells", head, listed));
  io.require(listed <= io.cursor().remaining() / 12, io.offset(), "cell[0].pos",
             fmt::format("{} cells need at least {} bytes, {} remain", listed,
                         std::uint64_t{listed} * 12, io.cursor().remaining()));
  CellTable all;
  std::size_t last_used = 0;  // one past the last that says anything
  for (std::uint32_t i = 0; i < listed; ++i) {
    StoredCell c;
    cell(io, i, c);
    all.append(c.position, c.ids);
    if (c.position != -1 || !c.ids.empty()) last_used = i + 1;
  }
  if (listed > 1) io.completed();
  stream.cells = stream.beyond = CellTable();
  for (std::size_t i = 0; i < std::max<std::size_t>(head, last_used); ++i)
    (i < head ? stream.cells : stream.beyond).append_from(all, i);
}

}  // namespace old

void refuse_bare_pool(Window& window) {
  Dump dump;
  dump.dialect.container = Container::state;
  dump.dialect.body = Body::pool;
  Reader io(Cursor(window, {0, window.size()}), Strictness::plausible);
  std::uint64_t pool = 0;
  std::int32_t count = 0;
  try {
    old::prelude(io, dump);
    io.u64("pool_size", pool);
    io.i32("count", count);
  } catch (const Error&) {
    return;
  }
  if (pool != io.cursor().remaining() || pool <= old::pool_slack_bytes) return;
  throw Error(
      ErrorKind::refused, Place{io.offset() - 4, "count"},
      "a bare state of April 2023 (version 0) holds the cache of its whole context and does "
      "not say how much of it is in use: only the token list of a session does");
}

}  // namespace kvtool::format
