// The encoder of token payloads against genuine ones, byte by byte, and cuts of them.
#include <gtest/gtest.h>

#include <array>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/tokens.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using Words = std::vector<std::int32_t>;

// A slot of llama-server with text 0 to 6, an image of 6 tokens in 3 x 2 at 7, text behind it.
TokenArea genuine_image() {
  return open_dump(test::testdata("modern/b11118/qwen2vl-slot-image.slot0.ggsq").string()).tokens;
}

TEST(EncodePayload, GivesBackEveryGenuinePayload) {
  std::size_t payloads = 0;
  for (const auto& path : test::dumps_below(test::testdata())) {
    try {
      const TokenArea tokens = open_dump(path.string()).tokens;
      if (tokens.form != TokenForm::payload) continue;
      EXPECT_EQ(encode_payload(tokens.ids, media_chunks(tokens)), tokens.words) << path;
      ++payloads;
    } catch (const Error&) {
    }
  }
  EXPECT_GE(payloads, 20U);
}

TEST(EncodePayload, Empty) { EXPECT_EQ(encode_payload({}, {}), (Words{-1, 1, 0, 0})); }

TEST(EncodePayload, TextOnlyIsSevenWordsForThreeIds) {
  const std::array<TokenId, 3> ids = {5, 6, 7};
  EXPECT_EQ(encode_payload(ids, {}), (Words{-1, 1, 3, 5, 6, 7, 0}));
}

TEST(EncodePayload, ChunksArePaddedToAWholeWord) {
  const std::array<TokenId, 1> ids = {-1};
  const std::array<std::byte, 5> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                          std::byte{5}};
  const std::array<MediaChunk, 1> media = {{{0, bytes}}};
  EXPECT_EQ(encode_payload(ids, media), (Words{-1, 1, 1, -1, 1, 0, 5, 0x04030201, 5}));
}

TEST(FirstTokens, PlainFormStaysPlain) {
  const TokenArea area = decode_tokens({10, 11, 12, 13});
  EXPECT_EQ(first_tokens(area, 2).words, (Words{10, 11}));
  EXPECT_EQ(first_tokens(area, 0).words, Words{});
  EXPECT_EQ(first_tokens(area, 4).words, area.words);
  EXPECT_THROW(static_cast<void>(first_tokens(area, 5)), Error);
}

TEST(FirstTokens, CutsAroundAnImage) {
  const TokenArea area = genuine_image();
  ASSERT_EQ(area.media.size(), 1U);
  const std::uint32_t begin = area.media[0].start;
  const std::uint32_t end = begin + area.media[0].tokens;
  const TokenArea before = first_tokens(area, begin);
  EXPECT_TRUE(before.media.empty());
  EXPECT_EQ(before.ids.size(), begin);
  const TokenArea behind = first_tokens(area, end);
  ASSERT_EQ(behind.media.size(), 1U);
  EXPECT_EQ(behind.media[0].id, area.media[0].id);
  EXPECT_TRUE(behind.problem.empty()) << behind.problem;
  for (std::uint32_t inside = begin + 1; inside < end; ++inside)
    EXPECT_THROW(static_cast<void>(first_tokens(area, inside)), Error) << inside;
}

TEST(FirstTokens, APayloadThatIsNotUnderstoodIsNotRewritten) {
  TokenArea area = genuine_image();
  area.problem = "something";
  EXPECT_THROW(static_cast<void>(first_tokens(area, 1)), Error);
  EXPECT_EQ(first_tokens(area, area.ids.size()).words, area.words);
}

TEST(PositionOf, AnImageTakesFewerPositionsThanTokens) {
  const TokenArea area = genuine_image();
  const MediaSpan& image = area.media[0];
  const std::uint64_t end = std::uint64_t{image.start} + image.tokens;
  ASSERT_LT(image.positions, image.tokens);
  EXPECT_EQ(position_of(area, image.start), image.start);
  EXPECT_EQ(position_of(area, end), std::uint64_t{image.start} + image.positions);
  EXPECT_EQ(position_of(area, end + 2), std::uint64_t{image.start} + image.positions + 2);
}

TEST(PositionOf, BehindAMediumOfUnknownLengthNothingIsKnown) {
  TokenArea area = genuine_image();
  area.media[0].positions = 0;
  EXPECT_TRUE(position_of(area, area.media[0].start).has_value());
  EXPECT_FALSE(position_of(area, area.ids.size()).has_value());
}

}  // namespace
}  // namespace kvtool
