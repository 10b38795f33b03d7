// What an architecture does with positions, by its name in model files.
#pragma once

#include <optional>
#include <string_view>

#include "kvtool/rope.h"

namespace kvtool::target {

enum class RopeKind { none, norm, neox, mrope, interleaved_mrope };

// Nothing for names that are not known here.
[[nodiscard]] std::optional<RopeKind> rope_kind(std::string_view arch, bool has_sections);

}  // namespace kvtool::target
