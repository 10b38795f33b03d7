// One attention cache: streams of cells with K and V of every layer.
//
//   [u32 n_stream]                                   dialects with streams, since July 2025
//   for each stream:
//     u32 cell_count                                 0 in dialects with streams: nothing follows
//     cell_count times:
//       i32 pos, u32 n_seq, [i32 x, i32 y, [i32 token],] i32 seq_id[n_seq]
//     u32 v_trans, u32 n_layer, [u32 rot_k, u32 rot_v]          rotation words since 11 / 4
//     n_layer times: i32 k_type, u64 k_row, byte k_data[cell_count * k_row]
//     n_layer times, unless the cache has no V:
//       v_trans 0: i32 v_type, u64 v_row, byte v_data[cell_count * v_row]
//       v_trans 1: i32 v_type, u32 v_el, u32 v_dim, v_dim rows of cell_count elements of v_el bytes
//
// Cells are those in use, in index order; where they stood before is not stored.
#pragma once

#include <vector>

#include "format/container.h"
#include "format/part.h"
#include "format/reader.h"
#include "kvtool/dump.h"

namespace kvtool::format {

// llama.cpp has at most one stream for each sequence.
inline constexpr std::uint32_t most_streams = most_sequences;

// How many sequence ids a cell may list.
struct SequenceIds {
  std::uint32_t least;
  std::uint32_t most;
};

inline SequenceIds attention_ids(const Dialect& dialect) {
  if (!holds_one_sequence(dialect)) return {0, 0xffffffff};
  return dialect.sequence_ids ? SequenceIds{1, 1} : SequenceIds{0, 0};
}

// One cell on its way between bytes and table.
struct StoredCell {
  Position position = 0;
  CellExtra extra;
  std::vector<SequenceId> ids;
};

template <class Io>
void extension(Io& io, CellExtra& extra, CellExtension kind) {
  if (kind == CellExtension::none) return;
  io.i32("x", extra.x);
  io.i32("y", extra.y);
  if (kind == CellExtension::xy_token) io.i32("token", extra.token);
}

template <class Io>
void cell(Io& io, StoredCell& c, CellExtension kind, SequenceIds allowed) {
  io.position("pos", c.position);
  const std::uint32_t n =
      io.count_near_one("n_seq", c.ids.size(), 4, allowed.least, allowed.most);
  if constexpr (Io::reads) c.ids.resize(n);
  extension(io, c.extra, kind);
  for (SequenceId& id : c.ids) io.sequence_id("seq_id", id);
  if constexpr (Io::reads) io.sequence_ids(c.ids);
}

// Bytes of a cell, or the least it can have.
inline std::uint64_t least_cell_bytes(CellExtension kind, SequenceIds allowed) {
  const std::uint64_t extra = kind == CellExtension::none ? 0 : kind == CellExtension::xy ? 8 : 12;
  return 8 + extra + std::uint64_t{4} * allowed.least;
}

// True when the second cell and those up to the last can be passed over, as all have one size.
inline bool passes_over(const Reader& io, std::uint32_t count, SequenceIds allowed) {
  return io.skims_cells() && allowed.least == allowed.most && count > 2;
}

// The next `count` cells of a table.
template <class Io, class Table>
void cells(Io& io, Table& table, std::uint32_t count, CellExtension kind, SequenceIds allowed) {
  if constexpr (Io::reads) {
    table = CellTable(kind);
    table.reserve(count);
  }
  StoredCell c;
  std::uint32_t i = 0;
  if constexpr (Io::reads)
    if (kind == CellExtension::none && allowed.least == allowed.most && !io.skims_cells())
      i = io.take_plain_cells(table, count, allowed.least);
  for (; i < count; ++i) {
    if constexpr (Io::reads)
      if (i == 1 && passes_over(io, count, allowed)) {
        io.skip_cells(table, count - 2, least_cell_bytes(kind, allowed));
        i = count - 1;
      }
    const Scope in = io.scope("cell", i);
    if constexpr (!Io::reads) {
      const auto ids = table.sequences(i);
      c = {table.position(i), table.extra(i), {ids.begin(), ids.end()}};
    }
    cell(io, c, kind, allowed);
    if constexpr (Io::reads) table.append(c.position, c.ids, c.extra);
  }
}

// A tensor of one layer stored row by row.
template <class Io, class AnyStream, class AnyLayer>
void rows(Io& io, AnyStream& stream, AnyLayer& layer, TensorOfLayer part, const RowNames& names) {
  auto& tensor = layer.*part;
  io.type(names.type, tensor.type);
  io.row_size(names.row, tensor.row_bytes, tensor.type);
  if constexpr (Io::reads) tensor.orientation = Orientation::rows;
  io.tensor(names.data, stream, layer, part);
}

// Throws unless a transposed tensor's element is one number of its type.
inline void require_element_size(const Reader& io, const Tensor& tensor) {
  const ElementTypeInfo& type = info(tensor.type);
  io.require(type.block_elements == 1 && tensor.element_bytes == type.block_bytes, io.offset() - 8,
             "v_el",
             "expected the size of one element of " + std::string(type.name) + ", found " +
                 std::to_string(tensor.element_bytes));
}

// What follows the type of V stored channel by channel.
template <class Io, class AnyStream, class AnyLayer>
void channels(Io& io, AnyStream& stream, AnyLayer& layer) {
  auto& tensor = layer.v;
  io.u32("v_el", tensor.element_bytes);
  io.u32("v_dim", tensor.width);
  if constexpr (Io::reads) {
    require_element_size(io, tensor);
    tensor.orientation = Orientation::transposed;
  }
  io.tensor("v_data", stream, layer, &Layer::v);
}

// V of one layer stored channel by channel.
template <class Io, class AnyStream, class AnyLayer>
void columns(Io& io, AnyStream& stream, AnyLayer& layer) {
  io.type("v_type", layer.v.type);
  channels(io, stream, layer);
}

// K or V of all layers; `one` describes one layer.
template <class Io, class AnyStream, class OneLayer>
void all_layers(Io& io, AnyStream& stream, TensorOfLayer part, OneLayer&& one) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    if constexpr (Io::reads) {
      const std::uint64_t begin = io.offset();
      one(stream.layers[l]);
      if (io.skims() && l == 0 && io.take_equal_layers(stream, part, begin)) return;
    } else {
      one(stream.layers[l]);
    }
  }
}

template <class Io, class AnyStream>
void layers_of_stream(Io& io, AnyStream& stream, bool has_v) {
  all_layers(io, stream, &Layer::k,
             [&](auto& layer) { rows(io, stream, layer, &Layer::k, k_names); });
  if (!has_v) return;
  if constexpr (Io::reads) io.completed();  // a cache whose V is wrong, rather than one without V
  all_layers(io, stream, &Layer::v, [&](auto& layer) {
    if (stream.v_transposed != 0)
      columns(io, stream, layer);
    else
      rows(io, stream, layer, &Layer::v, v_names);
  });
}

// Tells an opened stream that its data is its own.
inline void note_origin(Stream& stream, std::uint32_t cells) {
  if (cells > 0) stream.origin = {{0, stream.ordinal, 0, cells}};
}

template <class Io, class AnyStream>
void attention_stream(Io& io, AnyStream& stream, const Dialect& dialect, bool has_v) {
  io.begin_stream(stream);
  const SequenceIds allowed = attention_ids(dialect);
  const std::uint32_t n = io.count("cell_count", stream.cells.size(),
                                   least_cell_bytes(dialect.extension, allowed), most_cells);
  if (n == 0 && dialect.streams) return;
  cells(io, stream.cells, n, dialect.extension, allowed);
  if constexpr (Io::reads)
    if (n > 1) io.completed();  // the words of one cell can be anything
  io.flag("v_trans", stream.v_transposed);
  const std::uint32_t layers =
      io.count("n_layer", stream.layers.size(), has_v ? 24 : 12, most_layers);
  if constexpr (Io::reads)  // a cache without layers is younger than stream counts (LFM2)
    io.require(layers > 0 || dialect.streams, io.offset() - 4, "n_layer",
               "expected 1 or more, found 0");
  if (dialect.rotation) {
    io.rotation("rot_k", stream.rot_k);
    io.rotation("rot_v", stream.rot_v);
  }
  if constexpr (Io::reads) {
    stream.layers.resize(layers);
    note_origin(stream, n);
  }
  layers_of_stream(io, stream, has_v);
}

template <class Io, class AnyMemory>
void attention(Io& io, AnyMemory& memory, const Dialect& dialect, bool has_v) {
  std::uint32_t streams = 1;
  if (dialect.streams)
    streams = io.count_near_one("n_stream", memory.streams.size(), 4, 1, most_streams);
  if constexpr (Io::reads) memory.streams.resize(streams);
  for (std::size_t s = 0; s < memory.streams.size(); ++s) {
    const Scope in = io.scope("stream", s);
    attention_stream(io, memory.streams[s], dialect, has_v);
  }
}

}  // namespace kvtool::format
