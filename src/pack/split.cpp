#include "pack/split.h"

#include <cstring>

namespace kvtool::packing {
namespace {

std::size_t block_of(std::span<const Part> parts) {
  std::size_t block = 0;
  for (const Part& part : parts) block += part.width;
  return block;
}

// The shapes that cache types have; the compiler makes vectors of these loops.

bool is_pair(std::span<const Part> parts) {
  return parts.size() == 2 && parts[0].width == 1 && parts[1].width == 1;
}

bool is_quad(std::span<const Part> parts) {
  return parts.size() == 4 && block_of(parts) == 4;
}

// Two bytes of a scale, then quants: q8_0, q4_0, iq4_nl.
bool is_scaled(std::span<const Part> parts) {
  return parts.size() == 3 && parts[0].width == 1 && parts[1].width == 1;
}

void split_pair(const std::byte* in, std::byte* low, std::byte* high, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) {
    low[i] = in[2 * i];
    high[i] = in[2 * i + 1];
  }
}

void join_pair(const std::byte* low, const std::byte* high, std::byte* out, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) {
    out[2 * i] = low[i];
    out[2 * i + 1] = high[i];
  }
}

void split_quad(const std::byte* in, std::byte* out, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i)
    for (std::size_t k = 0; k < 4; ++k) out[k * blocks + i] = in[4 * i + k];
}

void join_quad(const std::byte* in, std::byte* out, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i)
    for (std::size_t k = 0; k < 4; ++k) out[4 * i + k] = in[k * blocks + i];
}

// The width of the quants is a constant in here, so that each copy is a few instructions.
template <std::size_t width>
void split_scaled(const std::byte* in, std::byte* out, std::size_t blocks) {
  std::byte* quants = out + 2 * blocks;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::byte* block = in + i * (width + 2);
    out[i] = block[0];
    out[blocks + i] = block[1];
    std::memcpy(quants + i * width, block + 2, width);
  }
}

template <std::size_t width>
void join_scaled(const std::byte* in, std::byte* out, std::size_t blocks) {
  const std::byte* quants = in + 2 * blocks;
  for (std::size_t i = 0; i < blocks; ++i) {
    std::byte* block = out + i * (width + 2);
    block[0] = in[i];
    block[1] = in[blocks + i];
    std::memcpy(block + 2, quants + i * width, width);
  }
}

}  // namespace

void reference::split(std::span<const Part> parts, std::span<const std::byte> in,
                      std::span<std::byte> out) {
  const std::size_t block = block_of(parts);
  std::size_t at = 0;
  std::size_t begin = 0;
  for (const Part& part : parts) {
    for (std::size_t offset = begin; offset < in.size(); offset += block)
      for (std::size_t i = 0; i < part.width; ++i) out[at++] = in[offset + i];
    begin += part.width;
  }
}

void reference::join(std::span<const Part> parts, std::span<const std::byte> in,
                     std::span<std::byte> out) {
  const std::size_t block = block_of(parts);
  std::size_t at = 0;
  std::size_t begin = 0;
  for (const Part& part : parts) {
    for (std::size_t offset = begin; offset < out.size(); offset += block)
      for (std::size_t i = 0; i < part.width; ++i) out[offset + i] = in[at++];
    begin += part.width;
  }
}

void split(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out) {
  if (in.empty()) return;
  const std::size_t blocks = in.size() / block_of(parts);
  if (parts.size() == 1) {
    std::memcpy(out.data(), in.data(), in.size());
  } else if (is_pair(parts)) {
    split_pair(in.data(), out.data(), out.data() + blocks, blocks);
  } else if (is_quad(parts)) {
    split_quad(in.data(), out.data(), blocks);
  } else if (is_scaled(parts) && parts[2].width == 32) {
    split_scaled<32>(in.data(), out.data(), blocks);
  } else if (is_scaled(parts) && parts[2].width == 16) {
    split_scaled<16>(in.data(), out.data(), blocks);
  } else {
    reference::split(parts, in, out);
  }
}

void join(std::span<const Part> parts, std::span<const std::byte> in, std::span<std::byte> out) {
  if (in.empty()) return;
  const std::size_t blocks = in.size() / block_of(parts);
  if (parts.size() == 1) {
    std::memcpy(out.data(), in.data(), in.size());
  } else if (is_pair(parts)) {
    join_pair(in.data(), in.data() + blocks, out.data(), blocks);
  } else if (is_quad(parts)) {
    join_quad(in.data(), out.data(), blocks);
  } else if (is_scaled(parts) && parts[2].width == 32) {
    join_scaled<32>(in.data(), out.data(), blocks);
  } else if (is_scaled(parts) && parts[2].width == 16) {
    join_scaled<16>(in.data(), out.data(), blocks);
  } else {
    reference::join(parts, in, out);
  }
}

}  // namespace kvtool::packing
