// The token area of any words: decoding never throws, and what was understood is written back.
#include <algorithm>
#include <cstring>

#include "fuzz/target.h"
#include "kvtool/error.h"
#include "kvtool/tokens.h"

namespace kvtool::fuzz {
namespace {

std::vector<std::int32_t> words_of(std::span<const std::byte> input) {
  std::vector<std::int32_t> words(input.size() / sizeof(std::int32_t));
  if (!words.empty()) std::memcpy(words.data(), input.data(), words.size() * sizeof(std::int32_t));
  return words;
}

// A payload may be padded further than kvtool pads it.
void check_encoding(const TokenArea& area) {
  const auto words = encode_payload(area.ids, media_chunks(area));
  require(words.size() <= area.words.size(), "a payload grew");
  for (std::size_t i = 0; i < area.words.size(); ++i)
    require(area.words[i] == (i < words.size() ? words[i] : 0), "a payload changed");
}

void check_cut(const TokenArea& area, std::uint64_t count) {
  try {
    const TokenArea head = first_tokens(area, count);
    require(head.ids.size() == count, "a cut has as many ids as asked for");
    require(std::equal(head.ids.begin(), head.ids.end(), area.ids.begin()), "a cut changed ids");
    require(decode_tokens(head.words).ids == head.ids, "a cut does not decode to its ids");
  } catch (const Error&) {
    require(area.form == TokenForm::payload, "plain ids can be cut anywhere");
  }
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  const TokenArea area = decode_tokens(words_of(input));
  for (std::uint64_t i = 0; i <= area.ids.size(); i += 1 + area.ids.size() / 16) check_cut(area, i);
  if (!area.problem.empty()) return;
  for (const MediaSpan& span : area.media)
    require(std::uint64_t{span.start} + span.tokens <= area.ids.size(), "a medium leaves the list");
  if (area.form == TokenForm::payload) check_encoding(area);
}

}  // namespace kvtool::fuzz
