// How many heads share the row of a q8_KV tensor: no word of the file says it, the content does.
#pragma once

#include "kvtool/dump.h"

namespace kvtool::format {

// Sets Tensor::heads in all streams, and notes where cells are cut. A row of q8_KV holds the sum of
// its bytes, 32 bits that fit by chance in no other place: the fewest heads whose rows all have
// theirs are believed, and one where none do. Reads a few rows of each such tensor; throws
// Error(io).
void find_row_heads(Dump& dump);

// The first tensor of a stream that is_misaligned(), or nullptr.
[[nodiscard]] const Tensor* misaligned_tensor(const Stream& stream);

}  // namespace kvtool::format
