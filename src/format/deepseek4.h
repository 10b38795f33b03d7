// The memory of DeepSeek V4, known from its description only: no dump of one has been seen.
//
//   head   u32 "DSV4", u32 1, u32 mode (0 full, 1 partial); then a base and a window attention cache
//   body   mode 0 only: three key caches (csa, hca, lid), three compressor states
//     key cache   u32 version (1 or 2), u32 n_rows, u32 n_stream, u32 n_layer,
//                 n_layer times: u32 layer, tensor
//     compressor  u32 1, u32 ratio, u32 state_size, u32 n_embd_state, u32 n_stream, u32 n_layer,
//                 n_layer times: u32 layer, tensor, tensor
//     tensor      i32 type, u64 width, u64 rows, u64 row, byte data[n_stream * rows * row]
//
// The body counts compressed positions, not cells, so kvtool carries it as it is. Where it does not
// read as described, everything to the end of the state is one unknown block.
#pragma once

#include <cstdint>

#include "format/reader.h"
#include "kvtool/dump.h"

namespace kvtool::format {

enum class DeepSeek4Mode : std::uint32_t { full = 0, partial = 1 };

// Reads the three words of the head into a verbatim memory. Throws Error(damaged).
Memory deepseek4_head(Reader& io, DeepSeek4Mode mode);
// Reads the body into a verbatim memory of labelled blocks. Throws Error(damaged).
Memory deepseek4_body(Reader& io);
// Takes all that remains as one block.
Memory unknown_body(Reader& io);

}  // namespace kvtool::format
