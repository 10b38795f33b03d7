// What a model, or a dump of it, says about bare states of before August 2024.
#include <fmt/format.h>

#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

constexpr std::uint64_t float_bytes = 4;

// All layers of a recurrent model had a state then.
BareShape of_states(const RecurrentStateShape& states) {
  return {true, states.model_layers, {states.r_row_bytes / float_bytes},
          {states.s_row_bytes / float_bytes}};
}

}  // namespace

BareShape bare_shape_of(const ModelShape& shape) {
  if (shape.recurrent && shape.caches.empty()) return of_states(*shape.recurrent);
  if (shape.recurrent || shape.caches.size() != 1 || !shape.caches.front().known)
    throw Error(ErrorKind::unsupported,
                fmt::format("an arrangement \"{}\" has no bare state of before August 2024",
                            shape.arrangement));
  BareShape bare;
  for (const LayerShape& layer : shape.caches.front().layers) {
    bare.k_width.push_back(layer.k_width);
    bare.v_width.push_back(layer.v_width);
  }
  bare.layers = static_cast<std::uint32_t>(bare.k_width.size());
  return bare;
}

BareShape bare_shape_of(const Gguf& model) {
  return bare_shape_of(shape_of_model(model, eras().front()));
}

}  // namespace kvtool
