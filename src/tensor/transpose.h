// The plain way to transpose, element by element: what the fast one is compared with.
#pragma once

#include "kvtool/tensor.h"

namespace kvtool::reference {

// As kvtool::transpose.
void transpose(const Panel& panel, std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace kvtool::reference
