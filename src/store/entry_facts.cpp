#include "store/entry_facts.h"

#include <algorithm>

namespace kvtool::store {
namespace {

void append_flag(ByteVector& out, bool flag) {
  append(out, static_cast<std::uint8_t>(flag ? 1 : 0));
}

bool take_flag(ByteReader& in) {
  const auto byte = in.take<std::uint8_t>();
  in.require(byte <= 1, "neither 0 nor 1");
  return byte == 1;
}

void append_rewind(ByteVector& out, const RewindFacts& rewind) {
  for (const bool flag : {rewind.window, rewind.recurrent, rewind.verbatim}) append_flag(out, flag);
  append(out, rewind.oldest);
  append(out, rewind.reach);
  append_list(out, rewind.checkpoints, [&](const RewindPoint& point) {
    append(out, point.tokens);
    append(out, point.pos_min);
    append(out, point.pos_max);
  });
}

RewindFacts take_rewind(ByteReader& in) {
  RewindFacts rewind;
  rewind.window = take_flag(in);
  rewind.recurrent = take_flag(in);
  rewind.verbatim = take_flag(in);
  rewind.oldest = in.take<std::int64_t>();
  rewind.reach = in.take<std::int64_t>();
  rewind.checkpoints = take_list<RewindPoint>(in, 16, [&] {
    RewindPoint point;
    point.tokens = in.take<std::uint64_t>();
    point.pos_min = in.take<Position>();
    point.pos_max = in.take<Position>();
    return point;
  });
  return rewind;
}

// Places of media; which medium it is, the symbols say.
void append_media(ByteVector& out, const std::vector<MediaSpan>& media) {
  append_list(out, media, [&](const MediaSpan& span) {
    append(out, span.start);
    append(out, span.tokens);
    append(out, span.positions);
  });
}

std::vector<MediaSpan> take_media(ByteReader& in) {
  return take_list<MediaSpan>(in, 12, [&] {
    MediaSpan span;
    span.start = in.take<std::uint32_t>();
    span.tokens = in.take<std::uint32_t>();
    span.positions = in.take<std::uint32_t>();
    return span;
  });
}

// The shortest shared beginning of which something is kept; all longer ones keep something too.
std::uint64_t shortest(const StoredPrompt& prompt) {
  std::uint64_t low = 0;
  std::uint64_t high = prompt.tokens;
  while (low + 1 < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    (reuse_of(prompt, middle, middle + 1).reused > 0 ? high : low) = middle;
  }
  return high;
}

// The same prompt as if there were no checkpoints but one, or none.
StoredPrompt with_checkpoint(const StoredPrompt& prompt, const RewindPoint* point) {
  StoredPrompt alone = prompt;
  alone.rewind.checkpoints.clear();
  if (point != nullptr) alone.rewind.checkpoints.push_back(*point);
  return alone;
}

}  // namespace

ByteVector encode_facts(const StoredPrompt& prompt) {
  ByteVector out;
  append(out, prompt.tokens);
  append(out, prompt.cells);
  append_flag(out, prompt.has_cache);
  append(out, prompt.kv_bytes_per_token);
  append_rewind(out, prompt.rewind);
  append_media(out, prompt.media);
  return out;
}

StoredPrompt decode_facts(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "facts of an entry");
  StoredPrompt prompt;
  prompt.tokens = in.take<std::uint64_t>();
  prompt.cells = in.take<std::uint64_t>();
  prompt.has_cache = take_flag(in);
  prompt.kv_bytes_per_token = in.take<std::uint64_t>();
  prompt.rewind = take_rewind(in);
  prompt.media = take_media(in);
  in.require_end();
  return prompt;
}

bool rewinds(const StoredPrompt& prompt) {
  return !prompt.rewind.window && !prompt.rewind.recurrent && !prompt.rewind.verbatim;
}

std::vector<std::uint64_t> useful_lengths(const StoredPrompt& prompt) {
  std::vector<std::uint64_t> lengths;
  if (prompt.tokens == 0) return lengths;
  lengths.push_back(shortest(with_checkpoint(prompt, nullptr)));
  for (const RewindPoint& point : prompt.rewind.checkpoints)
    lengths.push_back(shortest(with_checkpoint(prompt, &point)));
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

}  // namespace kvtool::store
