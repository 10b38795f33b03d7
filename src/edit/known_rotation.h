// How K is rotated (Hadamard), as far as an edit has to know that.
#pragma once

#include <memory>
#include <optional>

#include "kvtool/convert.h"

namespace kvtool {

// The dump with the rotation of its K said in every stream. Layouts before 11 / 4 do not say it:
// quantized K needs the caller's word, and a model's head size if it is rotated. Throws
// Error(refused) when that is missing.
[[nodiscard]] std::shared_ptr<const Dump> with_key_rotation(std::shared_ptr<const Dump> dump,
                                                            StatedRotation stated,
                                                            const std::optional<ModelShape>& model);

}  // namespace kvtool
