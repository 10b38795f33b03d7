// Into slot files of version 1: positions of one sequence, types and sizes of rows.
#include <fmt/format.h>

#include "convert/old_checks.h"
#include "convert/old_layout.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::refused, why); }

void need_old_tensor(const Tensor& tensor, char side) {
  if (tensor.orientation == Orientation::absent)
    refuse("slot files of version 1 hold K and V of every layer");
  if (!was_a_cache_type(tensor.type))
    refuse(fmt::format("no slot file of version 1 has type {}: say --cache-type-{}",
                       info(tensor.type).name, side));
}

// Where layers differ a loader takes the width of a transposed V from K of the same layer.
void need_known_width(const Layer& layer, const Layer& first) {
  if (layer.v.orientation != Orientation::transposed) return;
  const bool as_first = layer.k.cell_elements() == first.k.cell_elements();
  const std::uint64_t width = (as_first ? first.v : layer.k).cell_elements();
  if (layer.v.cell_elements() != width)
    refuse(
        "slot files of version 1 do not say how wide a transposed V is, if it differs from its K "
        "and from layer to layer: say --flash-attn on");
  if (width < 2)
    refuse("slot files of version 1 do not tell a transposed V of one channel from rows");
}

}  // namespace

void need_old_slot(const Dump& output) {
  const std::vector<Memory>& memories = output.state.memories;
  if (memories.size() != 1 || memories[0].kind != MemoryKind::attention)
    refuse("slot files of version 1 hold one cache of K and V");
  const std::vector<Layer>& layers = memories[0].streams[0].layers;
  for (const Layer& layer : layers) {
    need_old_tensor(layer.k, 'k');
    need_old_tensor(layer.v, 'v');
    need_known_width(layer, layers.front());
  }
}

}  // namespace kvtool::convert_steps
