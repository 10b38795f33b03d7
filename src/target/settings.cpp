// What follows from a target's settings: its number of streams and its rotations.
#include <algorithm>

#include "kvtool/target.h"

namespace kvtool {
namespace {

using Widths = std::optional<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::uint32_t rotation_block = 64;  // heads must be a multiple; the width for V

bool is_quantized(ElementType type) { return info(type).block_elements > 1; }

// The indexers of DeepSeek's sparse attention rotate K whatever its type.
bool always_rotates_k(const CacheShape& cache, const std::string& arch) {
  return cache.role == "index" && (arch == "deepseek32" || arch == "glm-dsa");
}

// Largest power of two that divides a head.
std::uint32_t width_for_k(std::uint32_t head) { return head & (~head + 1); }

// 0 where `head` does not rotate; nothing where it is not known.
std::optional<std::uint32_t> width(bool wanted, std::uint32_t head, bool k) {
  if (!wanted) return 0;
  if (head == 0) return std::nullopt;
  if (head % rotation_block != 0) return 0;
  return k ? width_for_k(head) : rotation_block;
}

}  // namespace

Widths rotation_for(const Era& era, const CacheShape& cache, const std::string& arch,
                    ElementType type_k, ElementType type_v) {
  const bool without_v = std::all_of(cache.layers.begin(), cache.layers.end(),
                                     [](const LayerShape& l) { return l.v_width == 0; });
  const bool k = is_quantized(type_k) || always_rotates_k(cache, arch);
  const bool v = is_quantized(type_v) && !without_v;
  if (!k && !v) return std::pair(0U, 0U);
  if (era.rotates == false) return std::pair(0U, 0U);
  const auto width_k = width(k, cache.head_k, true);
  const auto width_v = width(v, cache.head_v, false);
  if (!width_k || !width_v) return std::nullopt;
  if (!era.rotates && (*width_k != 0 || *width_v != 0)) return std::nullopt;
  return std::pair(*width_k, *width_v);
}

std::optional<std::uint32_t> Target::streams() const {
  if (n_stream) return n_stream;
  if (era && !era->streams) return 1;
  if (unified == true || parallel == 1U) return 1;
  return parallel;
}

Widths Target::rotation_of(std::size_t cache) const {
  if (cache < rotation.size() && rotation[cache]) return rotation[cache];
  if (rotation_disabled == true) return std::pair(0U, 0U);
  if (!era || !model || cache >= model->caches.size() || !type_k) return std::nullopt;
  const CacheShape& shape = model->caches[cache];
  return rotation_for(*era, shape, model->arch, *type_k, type_v.value_or(*type_k));
}

}  // namespace kvtool
