// Taking away what no entry needs.
#pragma once

#include "store/catalogue.h"

namespace kvtool::store {

// Evicts entries until the blocks that the others need fit into the budget, and takes dead blocks
// away; a file of blocks of which more than an eighth is dead is written anew. `spared` is not
// evicted. The caller is alone with the store.
GcReport collect(Catalogue& catalogue, BlockStorage& storage, std::optional<std::uint64_t> budget,
                 const std::string& spared, bool dry_run);

// Of all of them.
[[nodiscard]] std::uint64_t bytes_of(const std::vector<BlockFile>& files);

// What the files of blocks hold, of which entries need how much.
struct Inventory {
  std::uint64_t file_bytes = 0;  // of all files of blocks
  std::uint64_t live_bytes = 0;
  std::vector<EntrySizes> entries;  // the least recently used first
};
[[nodiscard]] Inventory inventory_of(Catalogue& catalogue, const BlockStorage& storage);

}  // namespace kvtool::store
