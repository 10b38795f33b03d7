#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "kvtool/tokens.h"

namespace kvtool {
namespace {

constexpr std::int32_t marker = -1;
constexpr std::uint32_t payload_version = 1;

// Appends words and bytes; zeros fill up to a whole word at the end.
class PayloadWriter {
 public:
  void i32(std::int32_t value) { bytes(std::as_bytes(std::span(&value, 1))); }
  void count(std::uint64_t value, const char* what) {
    if (value > std::numeric_limits<std::uint32_t>::max())
      throw Error(ErrorKind::refused,
                  fmt::format("{} {} are more than a token payload can count", value, what));
    const auto word = static_cast<std::uint32_t>(value);
    bytes(std::as_bytes(std::span(&word, 1)));
  }
  void bytes(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
  }
  [[nodiscard]] std::vector<std::int32_t> words() const {
    std::vector<std::int32_t> words((bytes_.size() + 3) / 4);
    if (!bytes_.empty()) std::memcpy(words.data(), bytes_.data(), bytes_.size());
    return words;
  }

 private:
  std::vector<std::byte> bytes_;
};

[[noreturn]] void refuse_cut(const MediaSpan& span, std::uint64_t token) {
  throw Error(ErrorKind::refused,
              fmt::format("a cut at token {} goes through an {}; tokens {} and {} are its ends",
                          token, span.kind == "unknown" ? "image or sound" : span.kind, span.start,
                          std::uint64_t{span.start} + span.tokens));
}

}  // namespace

void require_understood(const TokenArea& tokens) {
  if (tokens.form == TokenForm::payload && !tokens.problem.empty())
    throw Error(ErrorKind::refused,
                fmt::format("the token area cannot be rewritten: {}", tokens.problem));
}

std::vector<MediaChunk> media_chunks(const TokenArea& tokens) {
  const auto bytes = std::as_bytes(std::span(tokens.words));
  std::vector<MediaChunk> chunks;
  for (const MediaSpan& span : tokens.media)
    chunks.push_back({span.start, bytes.subspan(static_cast<std::size_t>(span.offset),
                                                static_cast<std::size_t>(span.bytes))});
  return chunks;
}

std::vector<std::int32_t> encode_payload(std::span<const TokenId> ids,
                                         std::span<const MediaChunk> media) {
  PayloadWriter out;
  out.i32(marker);
  out.count(payload_version, "versions");
  out.count(ids.size(), "ids");
  out.bytes(std::as_bytes(ids));
  out.count(media.size(), "media");
  for (const MediaChunk& chunk : media) out.count(chunk.start, "places");
  for (const MediaChunk& chunk : media) {
    out.count(chunk.bytes.size(), "bytes of one medium");
    out.bytes(chunk.bytes);
  }
  return out.words();
}

const MediaSpan* medium_across(const TokenArea& tokens, std::uint64_t token) {
  for (const MediaSpan& span : tokens.media)
    if (span.start < token && token < std::uint64_t{span.start} + span.tokens) return &span;
  return nullptr;
}

TokenArea first_tokens(const TokenArea& tokens, std::uint64_t count) {
  if (count > tokens.ids.size())
    throw Error(ErrorKind::usage,
                fmt::format("{} tokens are not there; the file has {}", count, tokens.ids.size()));
  if (count == tokens.ids.size()) return tokens;
  require_understood(tokens);
  if (const MediaSpan* span = medium_across(tokens, count)) refuse_cut(*span, count);
  const auto ids = std::span(tokens.ids).first(static_cast<std::size_t>(count));
  if (tokens.form == TokenForm::plain) return decode_tokens({ids.begin(), ids.end()});
  std::vector<MediaChunk> kept = media_chunks(tokens);
  std::erase_if(kept, [&](const MediaChunk& chunk) { return chunk.start >= count; });
  return decode_tokens(encode_payload(ids, kept));
}

std::optional<std::uint64_t> position_of(const TokenArea& tokens, std::uint64_t token) {
  std::uint64_t position = token;
  for (const MediaSpan& span : tokens.media) {
    if (std::uint64_t{span.start} + span.tokens > token) break;
    if (span.positions == 0 || span.positions > span.tokens) return std::nullopt;
    position -= span.tokens - span.positions;
  }
  return position;
}

}  // namespace kvtool
