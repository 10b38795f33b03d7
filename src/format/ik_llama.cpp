#include "format/ik_llama.h"

#include <fmt/format.h>

#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// A cursor behind magic, version and token ids.
bool behind_tokens(Cursor& cursor) {
  std::uint32_t n_token = 0;
  return cursor.skip(8) && cursor.take(n_token) && cursor.skip(std::uint64_t{4} * n_token);
}

// What stands in the words between the cells and the layers of one of its slot files.
bool has_cells_of_family(Cursor cursor) {
  std::uint32_t cells = 0;
  if (!behind_tokens(cursor) || !cursor.take(cells)) return false;
  for (std::uint32_t i = 0; i < cells; ++i) {
    std::uint32_t position = 0;
    std::uint32_t ids = 1;
    if (!cursor.take(position) || !cursor.take(ids) || ids != 0) return false;
  }
  std::uint32_t v_state = 3;
  std::uint32_t layers = 0;
  return cursor.take(v_state) && v_state <= 2 && cursor.take(layers) && layers > 0 && layers < 4096;
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
