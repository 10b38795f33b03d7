// What is done to elements before they are taken apart: filters, and differences from a base.
// Both are exact for every bit pattern, NaN included.
#pragma once

#include <cstddef>
#include <span>

#include "pack/container.h"

namespace kvtool::packing {

// In place. Whole words.
void apply_filter(Filter filter, std::span<std::byte> bytes);
void undo_filter(Filter filter, std::span<std::byte> bytes);

// `values` becomes its difference from `base`, of as many bytes; and back. Words of floating point
// are taken as integers in the order of the numbers, so that neighbours differ by 1 also where the
// exponent changes, and small differences of either sign become small numbers.
void subtract_base(Difference difference, std::span<std::byte> values,
                   std::span<const std::byte> base);
void add_base(Difference difference, std::span<std::byte> values, std::span<const std::byte> base);

}  // namespace kvtool::packing
