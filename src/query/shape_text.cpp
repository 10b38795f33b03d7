#include <fmt/format.h>

#include <iterator>

#include "kvtool/facts.h"
#include "kvtool/stored_prompt.h"

namespace kvtool {
namespace {

using Text = std::back_insert_iterator<std::string>;

bool same_shape(const Tensor& a, const Tensor& b) {
  return a.orientation == b.orientation && a.type == b.type && a.cell_bytes() == b.cell_bytes();
}

bool same_shape(const Layer& a, const Layer& b) {
  return same_shape(a.k, b.k) && same_shape(a.v, b.v) && same_shape(a.ple, b.ple);
}

// ", K f16 64 bytes": those of one cell.
void tensor_text(Text& out, const char* name, const Tensor& tensor) {
  if (tensor.orientation == Orientation::absent) return;
  fmt::format_to(out, ", {} {} {} bytes{}", name, info(tensor.type).name, tensor.cell_bytes(),
                 tensor.orientation == Orientation::transposed ? " transposed" : "");
}

void layer_text(Text& out, const Layer& layer, bool recurrent) {
  tensor_text(out, recurrent ? "R" : "K", layer.k);
  tensor_text(out, recurrent ? "S" : "V", layer.v);
  tensor_text(out, "PLE", layer.ple);
}

// "32 layers, K f16 2048 bytes, V f16 2048 bytes", equal neighbours counted.
void layers_text(Text& out, const std::vector<Layer>& layers, bool recurrent) {
  for (std::size_t first = 0, end = 0; first < layers.size(); first = end) {
    while (end < layers.size() && same_shape(layers[first], layers[end])) ++end;
    fmt::format_to(out, "{} {} layer{}", first == 0 ? "" : ",", end - first,
                   end - first == 1 ? "" : "s");
    layer_text(out, layers[first], recurrent);
  }
}

bool has_quantized_rows(const Stream& stream) {
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      if (tensor->orientation != Orientation::absent && info(tensor->type).block_elements > 1)
        return true;
  return false;
}

// Plain types are never rotated but in a few index caches, and those always.
void rotation_text(Text& out, const Stream& stream, const Dialect& dialect) {
  if (!dialect.rotation && has_quantized_rows(stream))
    fmt::format_to(out, ", rotation not stored");
  else if (stream.rot_k != 0 || stream.rot_v != 0)
    fmt::format_to(out, ", rotated by {} and {}", stream.rot_k, stream.rot_v);
}

// The stream that shows the layers; the others are empty or alike.
const Stream* telling_stream(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty()) return &stream;
  return nullptr;
}

void memory_text(Text& out, const Memory& memory, const Dialect& dialect) {
  fmt::format_to(out, "; {}:", memory.role);
  const Stream* stream = telling_stream(memory);
  if (memory.kind == MemoryKind::verbatim) {
    fmt::format_to(out, " as it is");
  } else if (stream == nullptr) {
    fmt::format_to(out, " {}", cells_of(memory) == 0 ? "empty" : "no layers");
  } else {
    const bool recurrent = memory.kind == MemoryKind::recurrent;
    layers_text(out, stream->layers, recurrent);
    if (!recurrent) rotation_text(out, *stream, dialect);
  }
}

}  // namespace

std::string shape_text(const Dump& dump) {
  std::string text;
  Text out(text);
  fmt::format_to(out, "{}", dump.state.arrangement);
  for (const Memory& memory : dump.state.memories) memory_text(out, memory, dump.dialect);
  return text;
}

}  // namespace kvtool
