// Factors that some models divide their angles by, stored as tensors of the model.
#pragma once

#include <optional>
#include <vector>

#include "kvtool/gguf.h"

namespace kvtool::target {

// The factors of a model: Llama 3's, or those of longrope for a context of `context` tokens when the
// training's was `original`; none for most. Throws Error(usage) where `context` decides and is not
// given, Error(damaged) when the file ends before them.
[[nodiscard]] std::vector<float> rope_factors(const Gguf& model, std::optional<std::uint64_t> context,
                                              std::uint64_t original);

}  // namespace kvtool::target
