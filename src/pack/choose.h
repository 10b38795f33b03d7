// Choosing by a sample how a section is taken apart and how its frames are made.
#pragma once

#include <span>

#include "pack/chunk.h"
#include "pack/container.h"

namespace kvtool::packing {

// Tries parts, filters and columns on the raw bytes of one chunk and sets what came out smallest;
// where two are nearly alike, the one that is faster to read. `level`: of zstd's search.
void choose_coding(Section& section, SectionModes& modes, std::span<const std::byte> sample,
                   int level);

// For a section with a base: sets the modes of the differences by a chunk that has some, or takes
// the base away when the differences are no smaller than the values.
void choose_base(Section& section, SectionModes& modes, const ChunkData& sample, int level);

}  // namespace kvtool::packing
