// Files of ik_llama.cpp with K of type q8_KV: the genuine one, of a model with two heads, and the
// same with rows of one head, as of a model that has one, which lie as the file says.
#pragma once

#include <memory>

#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool::test {

inline constexpr const char* two_heads = "server/ik_llama/llama-q8_KV.ggsq";

// A row of `width` levels, other ones in every cell and layer, with a power of two for a scale.
inline ByteVector one_head_row(std::uint32_t layer, std::uint32_t cell, std::uint32_t width) {
  std::int32_t sum = 0;
  Bytes levels;
  for (std::uint32_t i = 0; i < width; ++i) {
    const auto level = static_cast<std::int8_t>(i * 37 + cell * 11 + layer * 5);
    levels.u8(static_cast<std::uint8_t>(level));
    sum += level;
  }
  return Bytes().f32(cell % 2 == 0 ? 0.25F : 0.5F).i32(sum).append(levels.get()).get();
}

// The bytes of the genuine file with such rows.
inline ByteVector one_head_bytes() {
  ByteVector bytes = read_file(testdata(two_heads));
  const Dump dump = open_dump(testdata(two_heads).string());
  const Stream& stream = dump.state.memories.front().streams.front();
  for (std::uint32_t l = 0; l < stream.layers.size(); ++l) {
    const Tensor& k = stream.layers[l].k;
    for (std::uint32_t c = 0; c < stream.cells.size(); ++c)
      std::ranges::copy(one_head_row(l, c, 64),
                        bytes.begin() +
                            static_cast<std::ptrdiff_t>(k.extent.offset + c * k.row_bytes));
  }
  return bytes;
}

inline std::shared_ptr<const Dump> opened_bytes(ByteVector bytes) {
  return std::make_shared<const Dump>(open_dump(memory_source("q8_KV", std::move(bytes))));
}

}  // namespace kvtool::test
