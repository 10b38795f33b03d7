// Types and orientation that were asked for and that no tensor of the file can have.
#include <fmt/format.h>

#include <algorithm>

#include "convert/steps.h"
#include "kvtool/facts.h"

namespace kvtool::convert_steps {
namespace {

bool is_empty(const State& state) {
  return std::all_of(state.memories.begin(), state.memories.end(),
                     [](const Memory& memory) { return cells_of(memory) == 0; });
}

bool has_attention(const State& state) {
  return std::any_of(state.memories.begin(), state.memories.end(),
                     [](const Memory& memory) { return memory.kind == MemoryKind::attention; });
}

// Every layer with cells, of all attention memories.
std::vector<const Layer*> layers_of(const State& state) {
  std::vector<const Layer*> layers;
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      if (memory.kind == MemoryKind::attention && !stream.cells.empty())
        for (const Layer& layer : stream.layers) layers.push_back(&layer);
  return layers;
}

std::vector<std::string> options_of(const TensorWishes& wishes) {
  std::vector<std::string> options;
  if (wishes.type_k) options.push_back(fmt::format("--cache-type-k {}", info(*wishes.type_k).name));
  if (wishes.type_v) options.push_back(fmt::format("--cache-type-v {}", info(*wishes.type_v).name));
  if (wishes.v_transposed)
    options.push_back(fmt::format("--flash-attn {}", *wishes.v_transposed ? "off" : "on"));
  return options;
}

// llama.cpp takes these options for recurrent models and does nothing with them.
std::vector<std::string> of_recurrent(const TensorWishes& wishes) {
  const std::vector<std::string> options = options_of(wishes);
  if (options.empty()) return {};
  return {fmt::format("{} {} nothing: the file has no K and V, only recurrent states, which are f32 "
                      "whatever the options say, in llama.cpp too",
                      fmt::join(options, ", "), options.size() == 1 ? "changes" : "change")};
}

// The type of V is idle without V, and llama.cpp insists that it is the type of K (seen with
// deepseek2 in v0.4.0); as long as it is, there is nothing to tell.
std::vector<std::string> of_k_only(const std::vector<const Layer*>& layers, ElementType type_v) {
  const bool any_v = std::any_of(layers.begin(), layers.end(), [](const Layer* layer) {
    return layer->v.orientation != Orientation::absent;
  });
  if (any_v || layers.empty() || layers.front()->k.type == type_v) return {};
  return {fmt::format("--cache-type-v {} changes nothing: the file has no V, and with K of type {} "
                      "llama.cpp makes no such context of a model without V",
                      info(type_v).name, info(layers.front()->k.type).name)};
}

}  // namespace

std::vector<std::string> idle_wishes(const State& state, const TensorWishes& wishes) {
  if (is_empty(state)) return {};
  if (!has_attention(state)) return of_recurrent(wishes);
  return wishes.type_v ? of_k_only(layers_of(state), *wishes.type_v) : std::vector<std::string>{};
}

}  // namespace kvtool::convert_steps
