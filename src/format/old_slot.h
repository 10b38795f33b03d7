// Slot files of before August 2024, of version 1:
//
//   u32 magic, u32 version 1, tokens, u32 size_of_size 8, u32 cell_count, u32 n_layer, u32 v_dim,
//   i32 pos[cell_count], for each layer i32 k_type, u64 k_row, data; for each layer i32
//   v_type, u64 v_row (or the bytes of one element, if V is transposed), data
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/attention.h"
#include "format/state.h"

namespace kvtool::format {

// The one way of reading such a slot from `io` on, or none; what did not read is noted.
std::vector<StateReading> read_old_slot(Reader io, const std::string& attempt, Furthest& furthest);

namespace old {

// Where the V of a slot of version 1 says how it lies.
template <class Io, class AnyStream, class AnyLayer>
void typed_v(Io& io, AnyStream& stream, AnyLayer& layer, std::uint32_t width) {
  auto& tensor = layer.v;
  io.type("v_type", tensor.type);
  const bool turned = tensor.orientation == Orientation::transposed;
  std::uint64_t bytes = turned ? tensor.element_bytes : tensor.row_bytes;
  io.u64(!Io::reads && turned ? "v_el" : "v_row", bytes);
  if constexpr (Io::reads) {
    const ElementTypeInfo& type = info(tensor.type);
    const bool one = type.block_elements == 1 && bytes == type.block_bytes && width > 1;
    tensor.orientation = one ? Orientation::transposed : Orientation::rows;
    io.require(bytes > 0 && bytes % type.block_bytes == 0, io.offset() - 8, "v_row",
               "expected whole blocks, found " + std::to_string(bytes) + " bytes");
    if (one) {
      tensor.element_bytes = type.block_bytes;
      tensor.width = width;
    } else {
      tensor.row_bytes = bytes;
    }
  }
  io.tensor("v_data", stream, layer, &Layer::v);
}

template <class Io, class AnyStream>
void typed_positions(Io& io, AnyStream& stream, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) {
    const Scope in = io.scope("cell", i);
    Position position = 0;
    if constexpr (!Io::reads) position = stream.cells.position(i);
    io.position("pos", position);
    if constexpr (Io::reads) stream.cells.append(position, {});
  }
}

// Elements of V of a layer: of the first as stored, of others as their K has.
inline std::uint32_t typed_width(const Stream& stream, std::size_t layer, std::uint32_t first) {
  const std::uint64_t k = stream.layers[layer].k.cell_elements();
  return k == stream.layers.front().k.cell_elements() ? first : static_cast<std::uint32_t>(k);
}

template <class Io, class AnyStream>
void typed_layers(Io& io, AnyStream& stream, std::uint32_t width) {
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    rows(io, stream, stream.layers[l], &Layer::k, k_names);
  }
  for (std::size_t l = 0; l < stream.layers.size(); ++l) {
    const Scope in = io.scope("layer", l);
    typed_v(io, stream, stream.layers[l], typed_width(stream, l, width));
  }
  if constexpr (Io::reads) {
    const std::uint64_t first = stream.layers.front().v.cell_elements();
    io.require(first == width, io.offset(), "v_dim",
               "says " + std::to_string(width) + ", and the first V has " + std::to_string(first));
    stream.v_transposed = stream.layers.front().v.orientation == Orientation::transposed ? 1 : 0;
    for (const Layer& layer : stream.layers)
      io.require(layer.v.orientation == stream.layers.front().v.orientation, layer.v.extent.offset,
                 "v_row", "expected V of all layers in rows, or transposed");
  }
}

// The state of a slot of version 1.
template <class Io, class AnyState>
void typed_slot(Io& io, AnyState& state) {
  const Scope in = io.scope("memory", 0);
  const Scope in_stream = io.scope("stream", 0);
  auto& stream = state.memories.front().streams.front();
  io.begin_stream(stream);
  io.constant("size_of_size", 8);
  const std::uint32_t n = io.count("cell_count", stream.cells.size(), 4, most_cells);
  const std::uint32_t layers = io.count("n_layer", stream.layers.size(), 24, most_layers);
  std::uint32_t width = 0;
  if constexpr (!Io::reads)
    width = static_cast<std::uint32_t>(stream.layers.front().v.cell_elements());
  io.u32("v_dim", width);
  if constexpr (Io::reads) {
    io.require(layers > 0, io.offset() - 8, "n_layer", "expected 1 or more, found 0");
    stream.layers.resize(layers);
    note_origin(stream, n);
  }
  typed_positions(io, stream, n);
  typed_layers(io, stream, width);
}

}  // namespace old
}  // namespace kvtool::format
