// Makes any bytes safe to show on a terminal.
#include <fmt/format.h>

#include "gguf/utf8.h"
#include "kvtool/vocab.h"

namespace kvtool {
namespace {

// Characters that change what a terminal does or in which order a reader sees the text.
bool is_dangerous(std::uint32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
  const bool direction = c == 0x061c || c == 0x200e || c == 0x200f ||
                         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  const bool separator = c == 0x2028 || c == 0x2029;
  return (control && c != '\n' && c != '\t') || direction || separator;
}

void append_visible(std::string& out, std::string_view bytes, gguf::CodePoint c) {
  if (c.value == '\\') {
    out += "\\\\";
  } else if (!is_dangerous(c.value)) {
    out += bytes.substr(0, c.size);
  } else if (c.value < 0x80) {
    out += fmt::format("\\x{:02x}", c.value);
  } else {
    out += fmt::format("\\u{{{:04x}}}", c.value);
  }
}

}  // namespace

std::string visible(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const gguf::CodePoint c = gguf::first_code_point(bytes);
    if (c.size > 0) append_visible(out, bytes, c);
    if (c.size == 0) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    bytes.remove_prefix(c.size > 0 ? c.size : 1);
  }
  return out;
}

}  // namespace kvtool
