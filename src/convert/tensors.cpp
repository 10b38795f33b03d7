// Types and orientation of K and V.
#include <fmt/format.h>

#include "convert/steps.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

void to_rows(Tensor& tensor, ElementType type) {
  const std::uint64_t bytes = kvtool::row_bytes(type, tensor.cell_elements());
  tensor.orientation = Orientation::rows;
  tensor.type = type;
  tensor.row_bytes = bytes;
  tensor.counts_heads = false;
  tensor.heads = 1;
  tensor.element_bytes = 0;
  tensor.width = 0;
}

void to_columns(Tensor& tensor, ElementType type) {
  const ElementTypeInfo& t = info(type);
  if (t.block_elements != 1)
    throw Error(ErrorKind::refused,
                fmt::format("V of type {} cannot be stored transposed (its blocks run along a row); "
                            "llama.cpp needs flash attention for it too",
                            t.name));
  tensor.width = static_cast<std::uint32_t>(tensor.cell_elements());
  tensor.orientation = Orientation::transposed;
  tensor.type = type;
  tensor.element_bytes = t.block_bytes;
  tensor.row_bytes = 0;
  tensor.counts_heads = false;
  tensor.heads = 1;
}

// V of an MLA layer is a view of its K: stored until January 2026, and not since. The index cache
// of qwen4exp lost its V, which nothing read, in September 2026.
void match_v(Layer& layer, const LayerShape& wanted) {
  const bool has_v = layer.v.orientation != Orientation::absent;
  if (has_v && wanted.v_width == 0) layer.v = {};
  if (!has_v && wanted.v_width != 0)
    throw Error(ErrorKind::refused,
                "a cache of the target holds V and that of this file none: it was written after "
                "llama.cpp stopped storing it (MLA models in January, qwen4exp in September 2026)");
}

void set_layer(Layer& layer, const TensorWishes& wishes) {
  if (layer.k.orientation != Orientation::absent && wishes.type_k) to_rows(layer.k, *wishes.type_k);
  if (layer.v.orientation == Orientation::absent) return;
  const ElementType type = wishes.type_v.value_or(layer.v.type);
  const bool transposed =
      wishes.v_transposed.value_or(layer.v.orientation == Orientation::transposed);
  transposed ? to_columns(layer.v, type) : to_rows(layer.v, type);
}

}  // namespace

void match_mla(State& state, const ModelShape& model) {
  std::size_t cache = 0;
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention || cache >= model.caches.size()) continue;
    const std::vector<LayerShape>& wanted = model.caches[cache++].layers;
    for (Stream& stream : memory.streams) {
      if (stream.layers.size() != wanted.size()) continue;
      for (std::size_t l = 0; l < wanted.size(); ++l) match_v(stream.layers[l], wanted[l]);
    }
  }
}

void set_tensors(State& state, const TensorWishes& wishes) {
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (Stream& stream : memory.streams) {
      for (Layer& layer : stream.layers) set_layer(layer, wishes);
      if (wishes.v_transposed) stream.v_transposed = *wishes.v_transposed ? 1 : 0;
    }
  }
}

}  // namespace kvtool::convert_steps
