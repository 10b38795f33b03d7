// Types and orientation of K and V.
#include <fmt/format.h>

#include "convert/steps.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

void to_rows(Tensor& tensor, ElementType type) {
  const std::uint64_t bytes = kvtool::row_bytes(type, width_of(tensor));
  tensor.orientation = Orientation::rows;
  tensor.type = type;
  tensor.row_bytes = bytes;
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
  tensor.width = static_cast<std::uint32_t>(width_of(tensor));
  tensor.orientation = Orientation::transposed;
  tensor.type = type;
  tensor.element_bytes = t.block_bytes;
  tensor.row_bytes = 0;
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

std::uint64_t width_of(const Tensor& tensor) {
  if (tensor.orientation == Orientation::transposed) return tensor.width;
  const ElementTypeInfo& t = info(tensor.type);
  return tensor.row_bytes / t.block_bytes * t.block_elements;
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
