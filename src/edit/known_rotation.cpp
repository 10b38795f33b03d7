#include "edit/known_rotation.h"

#include <fmt/format.h>

#include "convert/rotation.h"
#include "kvtool/error.h"
#include "kvtool/rotation_evidence.h"

namespace kvtool {
namespace {

constexpr std::uint32_t rotated_heads = 64;  // only heads of a multiple of this are rotated

// True when nothing tells whether K of the memory is rotated.
bool may_be_rotated(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    for (const Layer& layer : stream.layers)
      if (layer.k.orientation == Orientation::rows && info(layer.k.type).block_elements > 1 &&
          layer.k.cell_elements() % rotated_heads == 0)
        return true;
  return false;
}

std::uint32_t head_of(const std::optional<ModelShape>& model, const Memory& memory) {
  if (!model) return 0;
  for (const CacheShape& cache : model->caches)
    if (cache.role == memory.role) return cache.head_k;
  return model->caches.empty() ? 0 : model->caches.front().head_k;
}

void require_word(const Dump& dump, StatedRotation stated, const std::optional<ModelShape>& model) {
  if (predates_rotation(dump.dialect)) return;
  if (stated != StatedRotation::unknown && !rotates_k(stated)) return;
  for (const Memory& memory : dump.state.memories) {
    const std::uint32_t head = head_of(model, memory);
    if (memory.kind != MemoryKind::attention || !may_be_rotated(memory)) continue;
    if (head != 0 && head % rotated_heads != 0) continue;
    if (stated == StatedRotation::unknown)
      throw Error(ErrorKind::refused,
                  "whether its quantized K is rotated is not in the file; say --rotation none or "
                  "hadamard (check --deep shows what the values look like)");
    if (head == 0)
      throw Error(ErrorKind::refused,
                  "how its rotated K is rotated depends on the head size; say --model MODEL.gguf "
                  "or --head-size N");
  }
}

}  // namespace

std::shared_ptr<const Dump> with_key_rotation(std::shared_ptr<const Dump> dump,
                                              StatedRotation stated,
                                              const std::optional<ModelShape>& model) {
  if (dump->dialect.rotation) return dump;
  require_word(*dump, stated, model);
  Target target;
  target.model = model;
  ConvertOptions options;
  options.rotation = stated;
  return convert_steps::with_known_rotation(*dump, target, options);
}

}  // namespace kvtool
