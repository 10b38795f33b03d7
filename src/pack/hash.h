// XXH3 of bytes that come piece by piece, and at once.
#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/source.h"

namespace kvtool::packing {

[[nodiscard]] inline std::uint64_t hash64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// A running XXH3, of which 64 or 128 bits can be taken.
template <bool wide>
class RunningHash {
 public:
  RunningHash() {
    if (!state_) throw std::bad_alloc();
    if constexpr (wide)
      XXH3_128bits_reset(state_.get());
    else
      XXH3_64bits_reset(state_.get());
  }
  void add(std::span<const std::byte> bytes) {
    if constexpr (wide)
      XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
    else
      XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  [[nodiscard]] auto value() const {
    if constexpr (wide)
      return XXH3_128bits_digest(state_.get());
    else
      return std::uint64_t{XXH3_64bits_digest(state_.get())};
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_{XXH3_createState(),
                                                                  XXH3_freeState};
};

using FileHash = RunningHash<true>;
using SectionHash = RunningHash<false>;

// Adds bytes of a source, piece by piece; `progress` gets the size of each. Throws Error(io).
inline void add_range(FileHash& hash, const Source& source, const Extent& range,
                      const std::function<void(std::uint64_t)>& progress = {}) {
  constexpr std::uint64_t most = 1U << 20U;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(range.size, most)));
  for (std::uint64_t at = range.offset; at < range.end();) {
    const auto piece = std::span(bytes).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), range.end() - at)));
    source.read_at(at, piece);
    hash.add(piece);
    at += piece.size();
    if (progress) progress(piece.size());
  }
}

}  // namespace kvtool::packing
