// What a dump tells about the context that saved it.
#include <algorithm>
#include <limits>

#include "format/dialect.h"
#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

// The first stream that had cells, and so says how its layers are; nullptr: none had.
const Stream* telling_stream(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty() || !stream.layers.empty()) return &stream;
  return nullptr;
}

CacheShape cache_shape(const Memory& memory) {
  CacheShape cache;
  cache.role = memory.role;
  const Stream* stream = telling_stream(memory);
  cache.known = stream != nullptr;
  if (stream == nullptr) return cache;
  for (const Layer& layer : stream->layers)
    cache.layers.push_back({layer.k.cell_elements(), layer.v.cell_elements()});
  return cache;
}

RecurrentStateShape recurrent_shape(const Memory& memory) {
  RecurrentStateShape shape;
  const std::vector<Layer>& layers = memory.streams.front().layers;
  shape.model_layers = memory.model_layers;
  shape.stored_layers = static_cast<std::uint32_t>(layers.size());
  if (layers.empty()) return shape;
  shape.r_row_bytes = layers.front().k.row_bytes;
  shape.s_row_bytes = layers.front().v.row_bytes;
  for (std::uint32_t l = 0; l < layers.size(); ++l) {
    if (layers[l].ple.orientation == Orientation::absent) continue;
    shape.ple_layer = l;
    shape.ple_row_bytes = layers[l].ple.row_bytes;
  }
  return shape;
}

// Files before March 2026 leave the extension out even where a model needs one.
std::optional<bool> extension_needed(const Dump& dump, const Era& era) {
  if (dump.dialect.extension != CellExtension::none) return true;
  if (era.extension == CellExtension::none || !format::visible_choices(dump.state).cells)
    return std::nullopt;
  const bool ambiguous = dump.dialect.version == 9 || dump.dialect.version == 2;
  return ambiguous ? std::nullopt : std::optional<bool>(false);
}

// What the first stored tensor of one side says about the cache types.
template <class Get>
std::optional<ElementType> type_of(const State& state, Get&& get) {
  for (const Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers)
        if (get(layer).orientation != Orientation::absent) return get(layer).type;
  }
  return std::nullopt;
}

// The first attention cache with cells says for all how V lies and how many streams there are.
void take_settings(const Dump& dump, Target& target) {
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    if (dump.dialect.streams) target.n_stream = static_cast<std::uint32_t>(memory.streams.size());
    const Stream* stream = telling_stream(memory);
    if (stream == nullptr || target.flash_attention) continue;
    target.flash_attention = stream->v_transposed == 0;
  }
  if (target.n_stream.value_or(1) > 1) {
    target.parallel = target.n_stream;
    target.unified = false;
  }
}

void take_types(const Dump& dump, Target& target) {
  target.type_k = type_of(
      dump.state, [](const Layer& l) -> auto& { return l.k; });
  target.type_v = type_of(
      dump.state, [](const Layer& l) -> auto& { return l.v; });
}

void take_rotation(const Dump& dump, Target& target) {
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    const Stream* stream = dump.dialect.rotation ? telling_stream(memory) : nullptr;
    target.rotation.emplace_back();
    if (stream != nullptr) target.rotation.back() = std::pair(stream->rot_k, stream->rot_v);
  }
}

}  // namespace

ModelShape shape_of_dump(const Dump& dump) {
  ModelShape shape;
  shape.arch = dump.arch.value_or("");
  shape.arrangement = dump.state.arrangement;
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind == MemoryKind::attention) shape.caches.push_back(cache_shape(memory));
    if (memory.kind == MemoryKind::recurrent) shape.recurrent = recurrent_shape(memory);
  }
  // Before August 2024 and in ik_llama.cpp cells had no extension, whatever the model.
  const bool has_era = dump.dialect.body == Body::current && dump.dialect.family == Family::llama_cpp;
  if (has_era) shape.needs_extension = extension_needed(dump, era_of_dump(dump));
  return shape;
}

Target target_like(const Dump& reference) {
  Target target;
  target.container = reference.dialect.container;
  target.era = era_of_dump(reference);
  target.model = shape_of_dump(reference);
  if (!reference.state.types_uncertain) take_types(reference, target);
  take_settings(reference, target);
  take_rotation(reference, target);
  return target;
}

}  // namespace kvtool
