#include "format/ik_llama.h"

#include <fmt/format.h>

#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// Type ids of that family are less than this.
constexpr std::uint32_t most_type_id = 512;

// A cursor behind magic, version and token ids.
bool behind_tokens(Cursor& cursor) {
  std::uint32_t n_token = 0;
  return cursor.skip(8) && cursor.take(n_token) && cursor.skip(std::uint64_t{4} * n_token);
}

// K headers of all layers, as far as the file goes: a type, or -1 for a layer without a cache, and
// rows of `cells` cells.
bool has_layers(Cursor& cursor, std::uint32_t cells, std::uint32_t layers) {
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    std::uint32_t type = 0;
    std::uint64_t row = 0;
    std::uint64_t bytes = 0;
    if (!cursor.take(type) || !cursor.take(row)) return layer > 0;
    const bool absent = type == 0xffffffff;
    if (absent ? row != 0 : type > most_type_id || row == 0) return false;
    if (__builtin_mul_overflow(row, cells, &bytes) || !cursor.skip(bytes)) return layer > 0;
  }
  return true;
}

// What stands in the words between the cells and the layers of one of its slot files, and those.
bool has_cells_of_family(Cursor cursor) {
  std::uint32_t cells = 0;
  if (!behind_tokens(cursor) || !cursor.take(cells)) return false;
  std::uint32_t position = 0;
  for (std::uint32_t i = 0; i < cells; ++i) {
    std::uint32_t ids = 1;
    if (!cursor.take(position) || !cursor.take(ids) || ids != 0) return false;
  }
  if (cells == 1 && position > 0) return false;  // the state of a recurrent model of llama.cpp
  std::uint32_t v_state = 3;
  std::uint32_t layers = 0;
  return cursor.take(v_state) && v_state <= 2 && cursor.take(layers) && layers > 0 &&
         layers < most_layers && has_layers(cursor, cells, layers);
}

bool has_generator_text(Cursor cursor) {
  std::uint32_t arch = 0;
  std::uint32_t text = 0;
  std::uint32_t digits = 0;
  if (!behind_tokens(cursor) || !cursor.take(arch) || arch > 256 || !cursor.skip(arch)) return false;
  if (!cursor.take(text) || text < least_rng_bytes || text > 10000 || !cursor.take(digits))
    return false;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t c = (digits >> (8 * i)) & 0xffU;
    if (c != ' ' && (c < '0' || c > '9')) return false;
  }
  return true;
}

}  // namespace

void refuse_ik_llama(Window& window, std::uint32_t magic, std::uint32_t version) {
  const Cursor start(window, {0, window.size()});
  const bool slot = magic == slot_magic && version >= 2 && version <= 4 && has_cells_of_family(start);
  const bool session = magic == session_magic && (version == 9 || version == 10) &&
                       has_generator_text(start);
  if (!slot && !session) return;
  throw Error(ErrorKind::unsupported, Place{4, "version"},
              fmt::format("{} version {} of the ik_llama.cpp family: same magic and number as "
                          "llama.cpp, other bytes; this kvtool does not read that family yet",
                          slot ? "ggsq" : "ggsn", version));
}

}  // namespace kvtool::format
