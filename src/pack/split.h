// Taking blocks apart into parts, and putting them together: the bytes of each part of all blocks
// one after another, the first part of all blocks before the second.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pack/container.h"

namespace kvtool::packing {

// `in`: whole blocks. `out` has as many bytes.
void split(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out);
// The inverse.
void join(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out);

namespace reference {
// The plain way, byte by byte: what the fast ones are compared with.
void split(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out);
void join(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out);
}  // namespace reference

}  // namespace kvtool::packing
