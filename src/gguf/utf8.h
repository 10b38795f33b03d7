// UTF-8, one code point at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvtool::gguf {

// A code point and the bytes it took. `size` 0: the text does not begin with valid UTF-8.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;
};

// The first code point of `text`. Overlong forms, surrogates and values past U+10FFFF are invalid.
[[nodiscard]] CodePoint first_code_point(std::string_view text);

void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace kvtool::gguf
