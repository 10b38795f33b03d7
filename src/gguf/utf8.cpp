#include "gguf/utf8.h"

namespace kvtool::gguf {
namespace {

// By the leading byte: how many bytes the form has, which bits of the first one count, and the
// least value that needs so many.
struct Form {
  std::size_t size;
  std::uint32_t mask;
  std::uint32_t least;
};

Form form_of(unsigned char lead) {
  if (lead < 0x80) return {1, 0x7f, 0};
  if (lead >= 0xc0 && lead < 0xe0) return {2, 0x1f, 0x80};
  if (lead >= 0xe0 && lead < 0xf0) return {3, 0x0f, 0x800};
  if (lead >= 0xf0 && lead < 0xf8) return {4, 0x07, 0x10000};
  return {0, 0, 0};
}

bool is_scalar(std::uint32_t value) {
  return value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

char byte(std::uint32_t value) { return static_cast<char>(value); }

}  // namespace

CodePoint first_code_point(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<unsigned char>(text.front());
  const Form form = form_of(lead);
  if (form.size == 0 || form.size > text.size()) return {};
  std::uint32_t value = lead & form.mask;
  for (std::size_t i = 1; i < form.size; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80U) return {};
    value = value << 6U | (next & 0x3fU);
  }
  if (value < form.least || !is_scalar(value)) return {};
  return {value, form.size};
}

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += byte(c);
  } else if (c < 0x800) {
    out += {byte(0xc0U | c >> 6U), byte(0x80U | (c & 0x3fU))};
  } else if (c < 0x10000) {
    out += {byte(0xe0U | c >> 12U), byte(0x80U | (c >> 6U & 0x3fU)), byte(0x80U | (c & 0x3fU))};
  } else {
    out += {byte(0xf0U | c >> 18U), byte(0x80U | (c >> 12U & 0x3fU)),
            byte(0x80U | (c >> 6U & 0x3fU)), byte(0x80U | (c & 0x3fU))};
  }
}

}  // namespace kvtool::gguf
