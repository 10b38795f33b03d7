#include "kvtool/tokens.h"

namespace kvtool {
TokenArea decode_tokens(std::vector<std::int32_t> words) {
  TokenArea area;
  area.words = std::move(words);
  area.ids = area.words;
  return area;
}
}  // namespace kvtool
