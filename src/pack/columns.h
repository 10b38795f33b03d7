// Columns of a part in whole rows of `columns.order.size()` bytes: each group's bytes of all rows, one
// group after the other. And the inverse.
#pragma once

#include <cstddef>
#include <span>

#include "pack/container.h"

namespace kvtool::packing {

// Room to work in, kept from one call to the next.
struct ColumnScratch {
  ByteVector turned;   // some rows, column by column
  ByteVector ordered;  // the same, in the order of the groups
};

// `in` and `out` are as long as each other.
void gather(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out,
            ColumnScratch& scratch);
void scatter(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out,
             ColumnScratch& scratch);

namespace reference {
// Byte by byte: what the fast ones are compared with.
void gather(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out);
void scatter(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out);
}  // namespace reference

}  // namespace kvtool::packing
