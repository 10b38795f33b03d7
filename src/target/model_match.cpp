#include "target/model_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "target/model_keys.h"

namespace kvtool::target {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::refused, fmt::format("the model is another one: {}", why));
}

void require_width(const Layer& layer, const LayerShape& shape, std::size_t number,
                   const std::string& role) {
  const std::uint64_t width = layer.k.cell_elements();
  if (width == 0 || width == shape.k_width) return;
  refuse(fmt::format("K of {} layer {} has rows of {} numbers, there of {}", role, number, width,
                     shape.k_width));
}

void require_cache(const Memory& memory, const CacheShape& shape) {
  for (const Stream& stream : memory.streams) {
    if (stream.layers.empty()) continue;
    if (stream.layers.size() != shape.layers.size())
      refuse(fmt::format("{} layers in {}, there {}", stream.layers.size(), memory.role,
                         shape.layers.size()));
    for (std::size_t l = 0; l < stream.layers.size(); ++l)
      require_width(stream.layers[l], shape.layers[l], l, memory.role);
  }
}

}  // namespace

void require_model_of(const Dump& dump, const Gguf& model,
                      const std::optional<ModelShape>& shape) {
  const std::string arch = ModelKeys(model).arch();
  if (dump.arch && *dump.arch != arch)
    refuse(fmt::format("the dump is of a {} model, and that is {}", *dump.arch, arch));
  if (!shape) return;
  const auto caches = std::ranges::count(dump.state.memories, MemoryKind::attention, &Memory::kind);
  if (static_cast<std::size_t>(caches) != shape->caches.size())
    refuse(fmt::format("{} attention caches, there {}", caches, shape->caches.size()));
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention || memory.role == "index") continue;
    // A slot file does not name its architecture, and its roles may be those of another one.
    const auto cache = std::ranges::find(shape->caches, memory.role, &CacheShape::role);
    if (cache != shape->caches.end() && cache->known) require_cache(memory, *cache);
  }
}

}  // namespace kvtool::target
