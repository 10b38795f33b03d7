// Whether a dump can be one of a model.
#pragma once

#include <optional>

#include "kvtool/target.h"

namespace kvtool::target {

// Compares what both tell: architecture, layers, and the width of K. Index caches are left out, whose
// rows have changed their width. `shape`: that of the model, if it is known. Throws Error(refused).
void require_model_of(const Dump& dump, const Gguf& model,
                      const std::optional<ModelShape>& shape);

}  // namespace kvtool::target
