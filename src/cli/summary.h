// Figures that the text and the JSON of `inspect` share.
#pragma once

#include <cstdint>
#include <optional>

#include "kvtool/dump.h"

namespace kvtool::cli {

struct Rotation {
  std::uint32_t k;
  std::uint32_t v;
};
// What a memory says about the rotation of its rows; nothing in dialects that do not say.
[[nodiscard]] std::optional<Rotation> rotation_of(const Memory& memory, const Dialect& dialect);

// A stream that shows the shapes of a memory's layers: one with cells if there is one.
[[nodiscard]] const Stream* stream_with_layers(const Memory& memory);

struct ByteFigures {
  std::uint64_t fixed = 0;     // size of the file without what its cells take
  std::uint64_t per_cell = 0;  // what one more token costs in all attention caches
};
[[nodiscard]] ByteFigures byte_figures(const Dump& dump);

}  // namespace kvtool::cli
