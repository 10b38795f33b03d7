// The tensors of a layer by name, so that one description serves K, V and the recurrent rows.
#pragma once

#include "kvtool/dump.h"

namespace kvtool::format {

using TensorOfLayer = Tensor Layer::*;

// No model has more layers (llama.cpp stops at 512). A layer takes more memory here than its header
// takes in the file, so a count is not believed only because the bytes would suffice.
inline constexpr std::uint32_t most_layers = 4096;

// Field names of a tensor stored in rows.
struct RowNames {
  const char* type;
  const char* row;
  const char* data;
};

inline constexpr RowNames k_names{"k_type", "k_row", "k_data"};
inline constexpr RowNames v_names{"v_type", "v_row", "v_data"};
inline constexpr RowNames r_names{"r_type", "r_row", "r_data"};
inline constexpr RowNames s_names{"s_type", "s_row", "s_data"};

}  // namespace kvtool::format
