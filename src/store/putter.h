// Putting a dump's file into a store, block by block.
#pragma once

#include "store/catalogue.h"

namespace kvtool::store {

// Names blocks; a test takes a bad one to see what equal names of different blocks do.
using Namer = std::function<BlockName(std::span<const std::byte>)>;

// Cuts the file, finds the blocks that are there already, and writes the others into one new file
// of blocks, if there are any. Returns the entry with everything but `entry`, `symbols` and
// `media`. Counts into `report`.
[[nodiscard]] NewEntry put_blocks(const Dump& dump, const PutOptions& options, Catalogue& catalogue,
                                  BlockStorage& storage, PutReport& report,
                                  const Namer& name = name_of);

}  // namespace kvtool::store
