// Cutting a dump into what blocks are made of.
#pragma once

#include <memory>
#include <vector>

#include "store/block.h"
#include "store/recipe.h"

namespace kvtool::store {

// A recipe without its blocks, and what only the cutting of the file needs to know.
struct Cut {
  Recipe recipe;
  std::vector<ContentType> byte_types;                   // of each part of bytes
  std::vector<std::vector<const Tensor*>> cell_tensors;  // of each part of cells, its tensors
};

// Points into `dump`, which must outlive it.
[[nodiscard]] Cut cut(const Dump& dump);

}  // namespace kvtool::store
