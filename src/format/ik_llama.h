// Recognises files of the ik_llama.cpp family, which uses llama.cpp's magics and version numbers.
//
//   slot 3, 4   u32 cell_count, cell_count times {i32 pos, u32 0}, u32 v_state (0, 1, 2),
//               u32 n_layer, ...: no stream count, and cells that name no sequence
//   session 9, 10   behind the arch a length of several thousand and the generator's text
//
// Version 2 and 8 files of that family have llama.cpp's bytes of their time and read as those.
#pragma once

#include <cstdint>

#include "format/cursor.h"

namespace kvtool::format {

// Throws Error(unsupported) that names the family if the file's words bear its marks.
void refuse_ik_llama(Window& window, std::uint32_t magic, std::uint32_t version);

}  // namespace kvtool::format
