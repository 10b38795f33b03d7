// XXH3 of bytes that come piece by piece, and at once.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

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

}  // namespace kvtool::packing
