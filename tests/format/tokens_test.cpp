// The token area in both forms: a genuine payload against its sidecar, payloads built here byte by
// byte, and every way of damaging them.
#include "kvtool/tokens.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.h"
#include "support/largest_allocation.h"

namespace kvtool {
namespace {

using test::Bytes;
using Words = std::vector<std::int32_t>;

// The bytes as words, with zeros up to a whole one.
Words words_of(const Bytes& bytes) {
  Words words((bytes.size() + 3) / sizeof(std::int32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.get().data(), bytes.size());
  return words;
}

Bytes& text64(Bytes& out, std::string_view characters) {
  return out.u64(characters.size()).text(characters);
}

// The parts of a payload, with the values that a sound one has.
struct Payload {
  Words ids = {40, -1, -1, -1, -1, -1, -1, 58, -1, -1, -1};
  std::vector<std::uint32_t> starts = {1, 8};
  std::vector<Bytes> chunks;

  [[nodiscard]] Words words() const {
    Bytes out;
    out.i32(-1).u32(1);
    out.u32(static_cast<std::uint32_t>(ids.size()));
    for (const std::int32_t id : ids) out.i32(id);
    out.u32(static_cast<std::uint32_t>(chunks.size()));
    for (const std::uint32_t start : starts) out.u32(start);
    for (const Bytes& chunk : chunks)
      out.u32(static_cast<std::uint32_t>(chunk.size())).append(chunk.get());
    return words_of(out);
  }
};

struct ImageFields {
  std::uint64_t version = 2;
  std::uint32_t type = 1;
  std::uint32_t nx = 3;
  std::uint32_t ny = 2;
  std::uint32_t position_type = 1;
  std::uint32_t merge = 1;
  std::uint64_t frames = 1;
};

Bytes batch(std::uint8_t is_audio, std::uint64_t entries) {
  Bytes out;
  out.u8(is_audio).u64(entries);
  for (std::uint64_t e = 0; e < entries; ++e)
    out.u8(0).u8(0).i32(0).i32(84).i32(56);
  return out;
}

Bytes image_chunk(const ImageFields& image) {
  Bytes out;
  out.u64(image.version).u32(image.type).u64(0);
  out.u8(1).u32(image.nx).u32(image.ny);
  out.u32(image.position_type).u32(0).u32(image.merge);
  text64(out, "hash-of-image").append(batch(0, image.frames).get());
  return out.u8(0);
}

Bytes audio_chunk(std::uint32_t tokens) {
  Bytes out;
  out.u64(2).u32(2).u64(0).u8(0);
  out.u8(1).u32(tokens);
  return text64(out, "hash-of-sound").append(batch(1, 1).get());
}

Payload sound_payload() {
  Payload payload;
  payload.chunks = {image_chunk({}), audio_chunk(3)};
  return payload;
}

// A payload of one image and as many empty places as it should take.
TokenArea with_image(const ImageFields& image, std::size_t places) {
  Payload payload;
  payload.ids.assign(places, -1);
  payload.starts = {0};
  payload.chunks = {image_chunk(image)};
  return decode_tokens(payload.words());
}

std::string problem_of(const Payload& payload) { return decode_tokens(payload.words()).problem; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Tokens, PlainIdsAreTheWords) {
  const Words words = {1, 40, -1, 58};
  const TokenArea area = decode_tokens(words);
  EXPECT_EQ(area.form, TokenForm::plain);
  EXPECT_EQ(area.ids, words);
  EXPECT_EQ(area.words, words);
  EXPECT_TRUE(area.media.empty());
  EXPECT_EQ(area.problem, "");
}

TEST(Tokens, EmptyAreaIsPlain) {
  const TokenArea area = decode_tokens({});
  EXPECT_EQ(area.form, TokenForm::plain);
  EXPECT_TRUE(area.ids.empty());
  EXPECT_EQ(area.problem, "");
}

TEST(Tokens, EmptyPayload) {
  const TokenArea area = decode_tokens({-1, 1, 0, 0});
  EXPECT_EQ(area.form, TokenForm::payload);
  EXPECT_TRUE(area.ids.empty());
  EXPECT_EQ(area.problem, "");
}

TEST(Tokens, GenuineSlotFileWithImage) {
  const std::string path = KVTOOL_TESTDATA "/modern/b11118/qwen2vl-slot-image.slot0.ggsq";
  const nlohmann::json sidecar = nlohmann::json::parse(std::ifstream(path + ".json"));
  const Words words = sidecar["header_tokens"].get<Words>();
  const TokenArea area = decode_tokens(words);
  EXPECT_EQ(area.problem, "");
  EXPECT_EQ(area.words, words);
  EXPECT_EQ(area.ids, sidecar["slot_tokens"].get<Words>());
  ASSERT_EQ(area.media.size(), 1U);
  const MediaSpan& image = area.media[0];
  EXPECT_EQ(image.kind, "image");
  EXPECT_EQ(image.id, "image-hash-1");
  EXPECT_EQ(image.start, 7U);  // the writer's --media-at
  EXPECT_EQ(image.tokens, 6U);
  EXPECT_EQ(image.width * image.height, image.tokens);
  // The cell behind the image holds the position that tells how many the image took.
  const auto& cells = sidecar["memory"][0]["cells"];
  EXPECT_EQ(image.positions, cells[13]["pos"].get<unsigned>() - cells[7]["pos"].get<unsigned>());
  EXPECT_EQ(image.offset + image.bytes, 197U);  // 200 bytes of words, 3 of them padding
}

TEST(Tokens, ImageAndAudio) {
  const TokenArea area = decode_tokens(sound_payload().words());
  EXPECT_EQ(area.problem, "");
  ASSERT_EQ(area.media.size(), 2U);
  EXPECT_EQ(area.media[0].id, "hash-of-image");
  EXPECT_EQ(area.media[0].positions, 3U);
  EXPECT_EQ(area.media[1].kind, "audio");
  EXPECT_EQ(area.media[1].id, "hash-of-sound");
  EXPECT_EQ(area.media[1].start, 8U);
  EXPECT_EQ(area.media[1].tokens, 3U);
  EXPECT_EQ(area.media[1].positions, 3U);
}

TEST(Tokens, PositionsFollowThePositionType) {
  const TokenArea one_each = with_image({.position_type = 0}, 6);
  EXPECT_EQ(one_each.problem, "");
  EXPECT_EQ(one_each.media[0].positions, 6U);
  const TokenArea breaks = with_image({.position_type = 2}, (3 + 1) * 2 + 2);
  EXPECT_EQ(breaks.problem, "");
  EXPECT_EQ(breaks.media[0].positions, 10U);
  const TokenArea unknown = with_image({.position_type = 3}, 6);
  EXPECT_TRUE(contains(unknown.problem, "position_type: 3 is not known")) << unknown.problem;
  EXPECT_EQ(unknown.media[0].tokens, 6U);  // the empty places still tell
  EXPECT_EQ(unknown.media[0].positions, 0U);
}

TEST(Tokens, FramesThatAreMergedShareAGrid) {
  const TokenArea video = with_image({.merge = 2, .frames = 3}, 3 * 2 * 2);
  EXPECT_EQ(video.problem, "");
  EXPECT_EQ(video.media[0].tokens, 12U);
  EXPECT_EQ(video.media[0].positions, 3U);
}

TEST(Tokens, HugeGridDoesNotWrap) {
  const TokenArea area = with_image({.nx = 0x10000, .ny = 0x10000}, 6);
  EXPECT_TRUE(contains(area.problem, "ends at 4294967295 of 6 ids")) << area.problem;
}

TEST(Tokens, OtherPayloadVersionHasNoIds) {
  Words words = sound_payload().words();
  words[1] = 2;
  const TokenArea area = decode_tokens(words);
  EXPECT_EQ(area.form, TokenForm::payload);
  EXPECT_TRUE(area.ids.empty());
  EXPECT_EQ(area.words, words);
  EXPECT_TRUE(contains(area.problem, "payload version 2 is not known")) << area.problem;
}

TEST(Tokens, PlainListThatBeginsWithAnImageStaysPlain) {
  const Words words = {-1, -1, -1, 40, 58};
  const TokenArea area = decode_tokens(words);
  EXPECT_EQ(area.form, TokenForm::plain);
  EXPECT_EQ(area.ids, words);
  EXPECT_FALSE(area.problem.empty());
  EXPECT_EQ(decode_tokens({-1}).ids, Words{-1});
}

TEST(Tokens, SpansMustFitTheIds) {
  Payload payload = sound_payload();
  payload.ids[3] = 77;
  EXPECT_TRUE(contains(problem_of(payload), "6 places, but id 3 is a text token"));
  payload = sound_payload();
  payload.ids.push_back(-1);
  EXPECT_TRUE(contains(problem_of(payload), "10 without a token, 9 in media"));
  payload = sound_payload();
  payload.starts = {1, 4};
  EXPECT_TRUE(contains(problem_of(payload), "ends at 7, the next begins at 4"));
  payload = sound_payload();
  payload.starts = {1, 9};
  EXPECT_TRUE(contains(problem_of(payload), "ends at 12 of 11 ids"));
}

TEST(Tokens, UnknownChunkIsPassedOver) {
  Payload payload = sound_payload();
  payload.chunks[0] = image_chunk({.version = 3});
  const TokenArea area = decode_tokens(payload.words());
  EXPECT_TRUE(contains(area.problem, "chunk_version: 3 is not known")) << area.problem;
  ASSERT_EQ(area.media.size(), 2U);
  EXPECT_EQ(area.media[0].kind, "unknown");
  EXPECT_EQ(area.media[0].tokens, 6U);
  EXPECT_EQ(area.media[1].id, "hash-of-sound");
}

TEST(Tokens, ChunkOfUnknownKindOrWithMoreBehindIt) {
  Payload payload = sound_payload();
  payload.chunks[0] = image_chunk({.type = 0});
  EXPECT_TRUE(contains(problem_of(payload), "0 is neither image (1) nor audio (2)"));
  payload.chunks[0] = image_chunk({.type = 2});
  EXPECT_TRUE(contains(problem_of(payload), "has_image: 1 in a chunk of another kind"));
  payload.chunks[0] = image_chunk({}).u8(0);
  EXPECT_TRUE(contains(problem_of(payload), "1 bytes behind its content"));
}

TEST(Tokens, PaddingIsZeroAndLessThanAWord) {
  Words words = sound_payload().words();
  words.push_back(0);
  EXPECT_TRUE(contains(decode_tokens(words).problem, "bytes behind the payload"));
  words = with_image({}, 6).words;
  ASSERT_EQ(decode_tokens(words).problem, "");
  words.back() = static_cast<std::int32_t>(static_cast<std::uint32_t>(words.back()) | 0x80000000U);
  EXPECT_TRUE(contains(decode_tokens(words).problem, "padding: not zero"));
}

TEST(Tokens, TruncatedAtEveryWord) {
  const Words whole = sound_payload().words();
  for (std::size_t length = 2; length < whole.size(); ++length) {
    const Words cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const TokenArea area = decode_tokens(cut);
    EXPECT_FALSE(area.problem.empty()) << length << " words";
    EXPECT_EQ(area.words, cut);
    // Either the ids were reached whole, or there are none.
    EXPECT_EQ(area.ids.size(), length < 3 + 11 ? 0U : 11U) << length << " words";
  }
}

TEST(Tokens, EveryByteCorrupted) {
  const Words whole = sound_payload().words();
  for (std::size_t byte = 0; byte < whole.size() * sizeof(std::int32_t); ++byte)
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      Words words = whole;
      reinterpret_cast<unsigned char*>(words.data())[byte] = static_cast<unsigned char>(value);
      test::watch_allocations();
      const TokenArea area = decode_tokens(words);
      EXPECT_LE(test::largest_allocation(), whole.size() * sizeof(std::int32_t) * 8) << byte;
      EXPECT_EQ(area.words, words);
      EXPECT_LE(area.ids.size(), words.size());
    }
}

TEST(Tokens, HostileCounts) {
  for (const std::int32_t count : {0x7fffffff, -0x7fffffff - 1, -1, 0x40000000, 4}) {
    test::watch_allocations();
    EXPECT_FALSE(decode_tokens({-1, 1, count, 0}).problem.empty()) << count;
    EXPECT_FALSE(decode_tokens({-1, 1, 1, 40, count, 0}).problem.empty()) << count;
    EXPECT_FALSE(decode_tokens({-1, 1, 1, -1, 1, 0, count, 2, 0, 1}).problem.empty()) << count;
    EXPECT_LE(test::largest_allocation(), 4096U) << count;
  }
}

}  // namespace
}  // namespace kvtool
