// From the way a vocabulary spells a token to the bytes the token stands for.
#pragma once

#include <string>
#include <string_view>

#include "kvtool/vocab.h"

namespace kvtool::gguf {

// The bytes of a token of kind normal or user_defined.
[[nodiscard]] std::string unspell(std::string_view token, Spelling spelling);

// The byte that a token like "<0x0A>" stands for; any other token is given back as it is.
[[nodiscard]] std::string byte_token(std::string_view token);
[[nodiscard]] bool is_byte_token(std::string_view token);

}  // namespace kvtool::gguf
