// One chunk between its raw bytes and its frames. Pure functions of their arguments: the same bytes
// come out on whatever thread they run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pack/columns.h"
#include "pack/container.h"
#include "pack/frame.h"
#include "pack/pieces.h"

namespace kvtool::packing {

// How the frames of a section are made: a mode for each part, of the differences and of the rest.
struct SectionModes {
  std::vector<FrameMode> compared;
  std::vector<FrameMode> plain;
};

// A chunk on its way. Buffers are kept from one to the next.
struct ChunkData {
  std::vector<Piece> pieces;      // sections with a base only
  ByteVector base;                // what the pieces are compared with
  ByteVector raw;
  ByteVector packed;              // all frames
  std::vector<std::uint32_t> frame_sizes;
  std::uint64_t hash = 0;         // XXH3 of raw
};

// What a thread needs to work on chunks.
struct ChunkTools {
  FrameMaker maker;
  FrameReader reader;
  ByteVector compared;  // the pieces with a base, as differences
  ByteVector plain;     // the others
  ByteVector parts;     // taken apart
  ByteVector columns;   // a part in groups
  ColumnScratch scratch;
};

// Fills packed, frame_sizes and hash from raw, pieces and base.
void encode_chunk(const Section& section, const SectionModes& modes, ChunkTools& tools,
                  ChunkData& chunk);
// Fills raw, which has its size, from packed, frame_sizes, pieces and base. False if a frame is
// damaged or raw does not have the hash.
[[nodiscard]] bool decode_chunk(const Section& section, ChunkTools& tools, ChunkData& chunk);

}  // namespace kvtool::packing
