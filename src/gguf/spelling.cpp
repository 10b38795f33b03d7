#include "gguf/spelling.h"

#include <array>
#include <charconv>
#include <cstdint>

#include "gguf/utf8.h"

namespace kvtool::gguf {
namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581

std::string with_spaces(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const bool mark = token.starts_with(space_mark);
    out += mark ? ' ' : token.front();
    token.remove_prefix(mark ? space_mark.size() : 1);
  }
  return out;
}

// Bytes that GPT-2 writes as the character of the same number, because it is printable.
constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr std::size_t other_bytes = 68;  // the rest is written as U+0100, U+0101, ... in order

constexpr std::array<unsigned char, other_bytes> make_other_bytes() {
  std::array<unsigned char, other_bytes> table{};
  std::size_t n = 0;
  for (unsigned byte = 0; byte < 256; ++byte)
    if (!stands_for_itself(byte)) table[n++] = static_cast<unsigned char>(byte);
  return table;
}

constexpr std::array<unsigned char, other_bytes> byte_of_other = make_other_bytes();

// The byte of a character of the alphabet; a character outside of it stays as it is (added tokens
// are sometimes stored as plain text).
void append_byte_of(std::string& out, std::string_view token, CodePoint c) {
  if (c.value < 256 && stands_for_itself(c.value)) {
    out += static_cast<char>(c.value);
  } else if (c.value >= 256 && c.value < 256 + other_bytes) {
    out += static_cast<char>(byte_of_other[c.value - 256]);
  } else {
    out += token.substr(0, c.size > 0 ? c.size : 1);
  }
}

std::string from_byte_alphabet(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const CodePoint c = first_code_point(token);
    append_byte_of(out, token, c);
    token.remove_prefix(c.size > 0 ? c.size : 1);
  }
  return out;
}

// Two hex digits as a byte, or -1.
int hex_byte(std::string_view digits) {
  int value = -1;
  if (digits.size() != 2) return -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + 2, value, 16);
  return error == std::errc{} && end == digits.data() + 2 ? value : -1;
}

// Takes what follows a backslash.
void append_escape(std::string& out, std::string_view& token) {
  const char c = token.front();
  const int byte = c == 'x' ? hex_byte(token.substr(1, 2)) : -1;
  const std::string_view letters = "ntr";
  const std::size_t letter = letters.find(c);
  if (byte >= 0) {
    out += static_cast<char>(byte);
  } else {
    out += letter == std::string_view::npos ? c : "\n\t\r"[letter];
  }
  token.remove_prefix(byte >= 0 ? 3 : 1);
}

std::string unescaped(std::string_view token) {
  std::string out;
  while (!token.empty()) {
    const char c = token.front();
    token.remove_prefix(1);
    if (c == '\\' && !token.empty()) append_escape(out, token);
    else out += c;
  }
  return out;
}

}  // namespace

std::string unspell(std::string_view token, Spelling spelling) {
  switch (spelling) {
    case Spelling::spaces_marked: return with_spaces(token);
    case Spelling::byte_alphabet: return from_byte_alphabet(token);
    case Spelling::escaped: break;
  }
  return unescaped(token);
}

bool is_byte_token(std::string_view token) {
  return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>') &&
         hex_byte(token.substr(3, 2)) >= 0;
}

std::string byte_token(std::string_view token) {
  if (!is_byte_token(token)) return std::string(token);
  return std::string(1, static_cast<char>(hex_byte(token.substr(3, 2))));
}

}  // namespace kvtool::gguf
