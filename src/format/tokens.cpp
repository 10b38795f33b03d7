#include "kvtool/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/byte_cursor.h"
#include "format/media.h"

namespace kvtool {
namespace {

using format::ByteCursor;

constexpr std::int32_t marker = -1;
constexpr std::int32_t payload_version = 1;

std::vector<TokenId> take_ids(ByteCursor& in) {
  const auto bytes = in.bytes("ids", in.count32("id_count", sizeof(TokenId)) * sizeof(TokenId));
  std::vector<TokenId> ids(bytes.size() / sizeof(TokenId));
  if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
  return ids;
}

std::vector<MediaSpan> take_starts(ByteCursor& in) {
  // Each has a start, a size and a chunk; chunks of versions to come have at least a version.
  const std::uint64_t count = in.count32("media_count", 4 + 4 + 8);
  std::vector<MediaSpan> media(static_cast<std::size_t>(count));
  for (MediaSpan& span : media) span.start = in.u32("start_index");
  return media;
}

// Places from `start` on that hold no text token, up to `end`.
std::uint32_t run_without_text(const std::vector<TokenId>& ids, std::size_t start,
                               std::size_t end) {
  std::size_t i = start;
  while (i < std::min(end, ids.size()) && ids[i] == -1) ++i;
  return static_cast<std::uint32_t>(i - start);
}

// Reads the chunk of one span. `next`: where the following span begins. A chunk that is not
// understood is noted in `problem`, and its bytes are passed over.
void take_chunk(ByteCursor& in, MediaSpan& span, const std::vector<TokenId>& ids,
                std::uint64_t next, ByteCursor& problem) {
  span.bytes = in.u32("chunk_size");
  span.offset = in.offset();
  ByteCursor chunk = in.inner("chunk", span.bytes);
  format::media_chunk(chunk, span);
  if (!chunk.ok() && span.tokens == 0 && span.start < ids.size())
    span.tokens = run_without_text(ids, span.start, static_cast<std::size_t>(next));
  if (in.ok()) problem.adopt(chunk);
}

void take_chunks(ByteCursor& in, TokenArea& area, ByteCursor& problem) {
  for (std::size_t m = 0; m < area.media.size() && in.ok(); ++m) {
    const bool last = m + 1 == area.media.size();
    const std::uint64_t next = last ? area.ids.size() : area.media[m + 1].start;
    take_chunk(in, area.media[m], area.ids, next, problem);
    if (!in.ok()) area.media.resize(m);
  }
}

// Only zeros up to a whole word may follow the chunks.
void take_padding(ByteCursor& in) {
  const std::uint64_t begin = in.offset();
  const std::uint64_t size = in.remaining();
  const auto bytes = in.bytes("padding", size);
  if (size >= sizeof(std::int32_t))
    in.fail(begin, "padding", fmt::format("{} bytes behind the payload", size));
  for (const std::byte byte : bytes)
    if (byte != std::byte{0}) in.fail(begin, "padding", "not zero");
}

// What is wrong with the place of span `m`, or nothing.
std::string misplaced(const TokenArea& area, std::size_t m) {
  const MediaSpan& span = area.media[m];
  const std::uint64_t end = std::uint64_t{span.start} + span.tokens;
  const std::uint64_t limit =
      m + 1 < area.media.size() ? area.media[m + 1].start : area.ids.size();
  if (end > area.ids.size()) return fmt::format("ends at {} of {} ids", end, area.ids.size());
  if (end > limit) return fmt::format("ends at {}, the next begins at {}", end, limit);
  if (span.tokens == 0) return "takes no place among the ids";
  const std::uint32_t empty = run_without_text(area.ids, span.start, static_cast<std::size_t>(end));
  if (empty < span.tokens)
    return fmt::format("{} places, but id {} is a text token", span.tokens, span.start + empty);
  return {};
}

void check_places(const TokenArea& area, ByteCursor& problem) {
  std::uint64_t places = 0;
  for (std::size_t m = 0; m < area.media.size(); ++m) {
    const std::string what = misplaced(area, m);
    if (!what.empty()) problem.fail(area.media[m].offset, "media", fmt::format("{} {}", m, what));
    places += area.media[m].tokens;
  }
  const auto empty = static_cast<std::uint64_t>(std::ranges::count(area.ids, -1));
  if (empty > places)
    problem.fail(12, "ids", fmt::format("{} without a token, {} in media", empty, places));
}

void decode_payload(TokenArea& area) {
  area.form = TokenForm::payload;
  ByteCursor in(std::as_bytes(std::span(area.words)));
  in.i32("marker");
  in.u32("payload_version");
  area.ids = take_ids(in);
  area.media = take_starts(in);
  ByteCursor problem({});  // what does not keep the rest from being read
  take_chunks(in, area, problem);
  take_padding(in);
  if (in.ok()) check_places(area, problem);
  in.adopt(problem);
  area.problem = in.problem();
}

// Why a list that begins like a payload is not one that is known here.
std::string unknown_version(std::int32_t version) {
  if (version < 0) return "begins with -1 but not with a payload: taken as plain ids";
  return fmt::format("payload version {} is not known ({} is): no ids", version, payload_version);
}

}  // namespace

TokenArea decode_tokens(std::vector<std::int32_t> words) {
  TokenArea area;
  area.words = std::move(words);
  const bool marked = !area.words.empty() && area.words.front() == marker;
  const std::int32_t version = marked && area.words.size() > 1 ? area.words[1] : -1;
  if (marked && version == payload_version) {
    decode_payload(area);
    return area;
  }
  if (marked) area.problem = unknown_version(version);
  if (marked && version >= 0) area.form = TokenForm::payload;
  if (area.form == TokenForm::plain) area.ids = area.words;
  return area;
}

}  // namespace kvtool
