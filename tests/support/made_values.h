// Numbers for made-up caches: repeatable, different for every cell, and shaped like real K and V,
// where each channel has its own scale and a few channels stand far out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kvtool/element_type.h"

namespace kvtool::test {

// The numbers of one tensor. A number depends on cell and channel only, so that a tensor in rows
// and a transposed one of equal seed hold the same.
class MadeValues {
 public:
  explicit MadeValues(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] float at(std::uint64_t cell, std::uint64_t channel) const;

  // Fills one row of `type` (whole blocks) for a cell.
  void row(ElementType type, std::uint64_t cell, std::span<std::byte> out) const;
  // Fills elements of one channel, from cell `first` on. Only types whose block is one element.
  void channel(ElementType type, std::uint64_t channel, std::uint64_t first,
               std::span<std::byte> out) const;

 private:
  [[nodiscard]] std::uint64_t mixed(std::uint64_t cell, std::uint64_t channel) const;
  [[nodiscard]] float scale(std::uint64_t channel) const;
  void block(ElementType type, std::uint64_t cell, std::uint64_t channel,
             std::span<std::byte> out) const;

  std::uint64_t seed_;
};

// The 16 bits of the nearest half-precision number; beyond its range: infinity.
[[nodiscard]] std::uint16_t half_of_float(float value);

}  // namespace kvtool::test
