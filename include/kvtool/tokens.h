// The token area of a dump: the words between the header and the state.
//
// Most writers put plain token ids there. llama-server since August 2026 puts a packed payload
// instead, which begins with -1 and can hold images and audio between the ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvtool/cells.h"

namespace kvtool {

enum class TokenForm {
  plain,    // one id a word
  payload,  // i32 -1, u32 1, ids, media chunks, zero padding
};

// An image or a sound between the ids. Its places in the id list hold -1.
struct MediaSpan {
  std::uint32_t start = 0;      // index of its first place in the id list
  std::uint32_t tokens = 0;     // places it takes there
  std::uint32_t positions = 0;  // positions it takes in the sequence (M-RoPE: fewer than tokens)
  std::string kind;             // "image", "audio" or "unknown"
  std::string id;               // as the server stored it, usually a hash of the content
  std::uint64_t word = 0;       // where its chunk begins, in bytes from the start of the token area
  std::uint64_t bytes = 0;      // size of the chunk
};

struct TokenArea {
  TokenForm form = TokenForm::plain;
  std::vector<std::int32_t> words;  // exactly as stored
  std::vector<TokenId> ids;         // decoded; equal to words in the plain form
  std::vector<MediaSpan> media;     // only in the payload form
  std::string problem;              // why a payload could not be decoded fully; empty: fine
};

// Decodes stored words. A list that does not begin with -1 is plain. Never throws for bad content:
// a payload that breaks off is reported in `problem` and keeps what was decoded before.
[[nodiscard]] TokenArea decode_tokens(std::vector<std::int32_t> words);

}  // namespace kvtool
