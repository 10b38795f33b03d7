// The chunk that llama-server stores for an image or a sound between the token ids.
//
//   u64 2, u32 type (1 image, 2 audio), u64 n + i32[n] (text ids, none in media),
//   u8 has_image [u32 nx, ny, pos_type, image_index, n_temporal_merge, u64 len + id, batch],
//   u8 has_audio [u32 n_tokens, u64 len + id, batch]
//   batch: u8 is_audio, u64 k, k times {u8, u8, i32, i32 nx, i32 ny}
#pragma once

#include "format/byte_cursor.h"
#include "kvtool/tokens.h"

namespace kvtool::format {

// Bytes of the smallest chunk: without an image and a sound.
inline constexpr std::uint64_t least_chunk_bytes = 22;

// Reads a chunk that fills the cursor into `span` (kind, id, grid, tokens and positions). What is
// wrong stays in the cursor; then the kind is "unknown", or the figures that were not read are 0.
void media_chunk(ByteCursor& in, MediaSpan& span);

}  // namespace kvtool::format
