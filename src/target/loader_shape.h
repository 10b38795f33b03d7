// A target with nothing left open: what the simulated loader compares a file with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/target.h"

namespace kvtool::target {

// One part of the state in the order of the file: an attention cache or the recurrent memory.
struct Part {
  const CacheShape* cache = nullptr;  // nullptr: recurrent
  std::size_t number = 0;             // of the cache, in ModelShape::caches
  std::string role;
};
// The parts of a shape. Throws Error(unsupported) for arrangements whose loader is not modelled.
[[nodiscard]] std::vector<Part> parts_of(const ModelShape& shape);

// Parts that a checkpoint holds: those that cannot be rewound.
[[nodiscard]] std::vector<Part> checkpointed(const std::vector<Part>& parts);

// Cells that a stream of the cache has room for; nothing where a setting for it is not known.
[[nodiscard]] std::optional<std::uint64_t> capacity(const Target& target, const CacheShape& cache);

// Ids that the server takes for one slot; nothing when the context size is not known.
[[nodiscard]] std::optional<std::uint64_t> tokens_per_slot(const Target& target);

// Bytes of a row of `width` elements.
[[nodiscard]] std::uint64_t row_bytes(ElementType type, std::uint64_t width);

}  // namespace kvtool::target
