// The token area of a dump: the words between the header and the state.
//
// Most writers put plain token ids there. llama-server since August 2026 puts a packed payload
// instead, which begins with -1 and can hold images and audio between the ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  std::uint32_t positions = 0;  // positions it takes in the sequence (M-RoPE: fewer than tokens);
                                // 0 when its chunk was not understood
  std::string kind;             // "image", "audio" or "unknown"
  std::string id;               // as the server stored it, usually a hash of the content: any bytes
  std::uint32_t width = 0;      // images: columns of the token grid
  std::uint32_t height = 0;     // images: rows of the token grid
  std::uint64_t offset = 0;     // where its chunk begins, in bytes from the start of the token area
  std::uint64_t bytes = 0;      // size of the chunk
};

struct TokenArea {
  TokenForm form = TokenForm::plain;
  std::vector<std::int32_t> words;  // exactly as stored
  std::vector<TokenId> ids;         // decoded; equal to words in the plain form
  std::vector<MediaSpan> media;     // only in the payload form
  std::string problem;              // what is wrong or not understood; empty: fine
};

// Decodes stored words. Never throws for bad content: what does not decode is said in `problem`.
// A list that does not begin with -1 is plain. One that does is a payload if a version follows;
// of a payload that breaks off, what was decoded before stays, and of one of another version there
// are no ids. A list that begins with -1 and another negative word is taken as plain ids.
[[nodiscard]] TokenArea decode_tokens(std::vector<std::int32_t> words);

// What the server stored for one medium: the content of its chunk, not interpreted.
struct MediaChunk {
  std::uint32_t start = 0;  // index of its first place in the id list
  std::span<const std::byte> bytes;
};
// Throws Error(refused) for a payload with a problem: what is not understood cannot be rewritten.
void require_understood(const TokenArea& tokens);

// The chunks of a payload; they look into `tokens.words`.
[[nodiscard]] std::vector<MediaChunk> media_chunks(const TokenArea& tokens);

// The words of a payload: what decode_tokens takes apart. Throws Error(refused) for more ids, media
// or bytes than a payload can count.
[[nodiscard]] std::vector<std::int32_t> encode_payload(std::span<const TokenId> ids,
                                                       std::span<const MediaChunk> media);

// The token area without all but its first `count` tokens, in the same form. Throws Error(usage) if
// there are fewer, and Error(refused) if that would cut a medium in two or the area has a problem.
[[nodiscard]] TokenArea first_tokens(const TokenArea& tokens, std::uint64_t count);

// The medium that a cut before token `token` would go through, or nullptr.
[[nodiscard]] const MediaSpan* medium_across(const TokenArea& tokens, std::uint64_t token);

// The position of a token when the first has position 0: a medium can take fewer positions than
// tokens. Nothing behind a medium whose positions are not known.
[[nodiscard]] std::optional<std::uint64_t> position_of(const TokenArea& tokens,
                                                       std::uint64_t token);

}  // namespace kvtool
