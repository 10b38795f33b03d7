#include "target/loader_shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "kvtool/open.h"

namespace kvtool::target {
namespace {

constexpr std::uint64_t usual_batch = 512;  // --ubatch-size

std::uint64_t rounded_up(std::uint64_t n, std::uint64_t unit) {
  return checked_multiply(checked_add(n, unit - 1) / unit, unit);
}

// Contexts of old builds without flash attention are rounded less.
std::uint64_t context_unit(const Target& target) {
  return target.era && !target.era->streams && target.flash_attention == false ? 32 : 256;
}

std::optional<std::uint64_t> full_capacity(const Target& target) {
  const auto per_slot = tokens_per_slot(target);
  const bool divided = target.era && target.era->streams && target.streams().value_or(1) > 1;
  const auto wanted = divided        ? per_slot
                      : target.n_ctx ? std::optional<std::uint64_t>(*target.n_ctx)
                                     : std::nullopt;
  if (!wanted) return std::nullopt;
  return rounded_up(*wanted, context_unit(target));
}

const Arrangement* arrangement_called(const std::string& name) {
  for (const Arrangement& arrangement : arrangements())
    if (arrangement.name == name) return &arrangement;
  return nullptr;
}

}  // namespace

std::vector<Part> parts_of(const ModelShape& shape) {
  const Arrangement* arrangement = arrangement_called(shape.arrangement);
  if (arrangement == nullptr || shape.arrangement.rfind("dsv4", 0) == 0)
    throw Error(ErrorKind::unsupported,
                fmt::format("how a loader reads a state of arrangement \"{}\" is not known here",
                            shape.arrangement));
  std::vector<Part> parts;
  std::size_t cache = 0;
  for (const std::string& role : arrangement->roles) {
    Part part;
    part.role = role;
    if (role != "recurrent" && cache < shape.caches.size()) {
      part.number = cache;
      part.cache = &shape.caches[cache++];
      part.role = part.cache->role;
    }
    parts.push_back(part);
  }
  return parts;
}

std::vector<Part> checkpointed(const std::vector<Part>& parts) {
  std::vector<Part> held;
  for (const Part& part : parts)
    if (part.cache == nullptr || part.role == "window") held.push_back(part);
  return held;
}

std::optional<std::uint64_t> tokens_per_slot(const Target& target) {
  if (!target.n_ctx) return std::nullopt;
  if (target.unified == true) return *target.n_ctx;
  const std::uint32_t sequences = target.parallel.value_or(target.streams().value_or(1));
  return *target.n_ctx / std::max(sequences, 1U);
}

std::optional<std::uint64_t> capacity(const Target& target, const CacheShape& cache) {
  const auto full = full_capacity(target);
  if (!full || cache.role != "window" || target.swa_full == true) return full;
  if (cache.window == 0 || (target.era && !target.era->streams)) return full;
  const std::uint64_t sequences = target.unified == true ? target.parallel.value_or(1) : 1;
  const std::uint64_t needed = checked_add(checked_multiply(cache.window, sequences), usual_batch);
  return std::min(*full, rounded_up(needed, 256));
}

std::uint64_t row_bytes(ElementType type, std::uint64_t width) {
  const ElementTypeInfo& t = info(type);
  return checked_add(checked_multiply(width / t.block_elements, t.block_bytes), t.row_header_bytes);
}

}  // namespace kvtool::target
