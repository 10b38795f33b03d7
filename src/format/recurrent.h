// A recurrent memory: one state a sequence, R and S rows of the layers that have one.
//
//   u32 cell_count; cell_count times: i32 pos, u32 n_seq, i32 seq_id[n_seq]   (no extension, ever)
//   u32 s_trans (0), u32 n_layer (all layers of the model)
//   each layer with state: i32 r_type, u64 r_row, byte r_data[cell_count * r_row]
//                          [u64 ple_row, byte ple_data[cell_count * ple_row]]     one layer only,
//                                                                        qwen4exp, since 2026-09
//   each layer with state: i32 s_type, u64 s_row, byte s_data[cell_count * s_row]
//
// How many layers have state is not stored. All R rows have one size and all S rows have one size,
// which is how scan_recurrent tells where R ends and S begins.
#pragma once

#include <optional>
#include <vector>

#include "format/attention.h"

namespace kvtool::format {

// What a reader must know beforehand, because no field says it.
struct RecurrentShape {
  std::uint32_t layers = 0;                // with state
  std::optional<std::uint32_t> ple_layer;  // the one with the PLE row
};

// Sequence files store no ids here, sessions those of the sequences that end in the cell.
inline SequenceIds recurrent_ids(const Dialect& dialect) {
  return holds_one_sequence(dialect) ? SequenceIds{0, 0} : SequenceIds{0, 0xffffffff};
}

template <class Io, class AnyMemory>
void recurrent_head(Io& io, AnyMemory& memory, const Dialect& dialect) {
  auto& stream = memory.streams.front();
  io.begin_stream(stream);
  const SequenceIds allowed = recurrent_ids(dialect);
  const std::uint32_t n = io.count("cell_count", stream.cells.size(), 8, most_cells);
  cells(io, stream.cells, n, CellExtension::none, allowed);
  if constexpr (Io::reads)
    if (n > 1) io.completed();
  io.constant("s_trans", 0);
  const std::uint32_t layers = io.count("n_layer", memory.model_layers, 0, most_layers);
  if constexpr (Io::reads) {
    memory.model_layers = layers;
    note_origin(stream, n);
  }
}

template <class Io, class AnyStream, class AnyLayer>
void ple_row(Io& io, AnyStream& stream, AnyLayer& layer) {
  io.u64("ple_row", layer.ple.row_bytes);
  if constexpr (Io::reads) layer.ple.orientation = Orientation::rows;
  io.tensor("ple_data", stream, layer, &Layer::ple);
}

template <class Io, class AnyStream>
void recurrent_rows(Io& io, AnyStream& stream, std::optional<std::uint32_t> ple_layer) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    rows(io, stream, stream.layers[l], &Layer::k, r_names);
    if (ple_layer == l) ple_row(io, stream, stream.layers[l]);
  }
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    rows(io, stream, stream.layers[l], &Layer::v, s_names);
  }
}

// The layer of a stream that has a PLE row.
inline std::optional<std::uint32_t> ple_layer_of(const Stream& stream) {
  for (std::uint32_t l = 0; l < stream.layers.size(); ++l)
    if (stream.layers[l].ple.orientation != Orientation::absent) return l;
  return std::nullopt;
}

// Throws unless all R rows are of one type and size, and all S rows of one.
void require_equal_rows(const Reader& io, const Stream& stream);

template <class Io, class AnyMemory>
void recurrent(Io& io, AnyMemory& memory, const Dialect& dialect, const RecurrentShape& shape) {
  if constexpr (Io::reads) memory.streams.resize(1);
  recurrent_head(io, memory, dialect);
  if constexpr (Io::reads) memory.streams.front().layers.resize(shape.layers);
  recurrent_rows(io, memory.streams.front(), shape.ple_layer);
  if constexpr (Io::reads) require_equal_rows(io, memory.streams.front());
}

// All shapes with which the bytes from `io` on read as a recurrent memory whose R rows are of one
// type and size and whose S rows are of one type and size. Throws if the head does not read.
std::vector<RecurrentShape> scan_recurrent(Reader io, const Dialect& dialect);

}  // namespace kvtool::format
