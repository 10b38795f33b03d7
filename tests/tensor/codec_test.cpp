#include "kvtool/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "kvtool/error.h"
#include "support/bytes.h"

namespace kvtool {
namespace {

using test::Bytes;
using test::ByteVector;

constexpr unsigned half_one = 0x3c00;    // 1.0
constexpr unsigned half_two = 0x4000;    // 2.0
constexpr unsigned half_minus3 = 0xc200; // -3.0

std::vector<float> decode(ElementType type, const Bytes& bytes) {
  const ElementTypeInfo& t = info(type);
  std::vector<float> floats(bytes.size() / t.block_bytes * t.block_elements);
  dequantize(type, bytes.get(), floats);
  return floats;
}

// 16 bytes whose low halves count up and whose high halves count down.
void put_nibbles(Bytes& bytes) {
  for (unsigned i = 0; i < 16; ++i) bytes.u8(i | (15 - i) << 4U);
}

TEST(Codec, HalfPrecisionOfEveryClass) {
  EXPECT_EQ(float_of_half(0x3c00), 1.0F);
  EXPECT_EQ(float_of_half(0xc200), -3.0F);
  EXPECT_EQ(float_of_half(0x3555), 0.333251953125F);     // 1365 / 4096
  EXPECT_EQ(float_of_half(0x7bff), 65504.0F);            // largest
  EXPECT_EQ(float_of_half(0x0400), std::ldexp(1.0F, -14));  // smallest normal
  EXPECT_EQ(float_of_half(0x0001), std::ldexp(1.0F, -24));  // smallest subnormal
  EXPECT_EQ(float_of_half(0x83ff), -std::ldexp(1023.0F, -24));
  EXPECT_EQ(float_of_half(0x7c00), INFINITY);
  EXPECT_EQ(float_of_half(0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(float_of_half(0x7e00)));
  EXPECT_TRUE(std::signbit(float_of_half(0x8000)));
}

// All halves lie in order: a wrong exponent or fraction anywhere breaks it.
TEST(Codec, HalvesGrowWithTheirBits) {
  for (unsigned bits = 1; bits <= 0x7c00; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits - 1);
    const auto high = static_cast<std::uint16_t>(bits);
    ASSERT_LT(float_of_half(low), float_of_half(high)) << bits;
    ASSERT_EQ(float_of_half(high), -float_of_half(static_cast<std::uint16_t>(high | 0x8000U)));
  }
}

TEST(Codec, PlainNumbers) {
  EXPECT_EQ(decode(ElementType::f32, Bytes().f32(0.1F).f32(-7)), (std::vector<float>{0.1F, -7}));
  EXPECT_EQ(decode(ElementType::f16, Bytes().u16(half_two).u16(half_minus3)),
            (std::vector<float>{2, -3}));
  // The upper half of 1.0F is 0x3f80, of -2.5F 0xc020.
  EXPECT_EQ(decode(ElementType::bf16, Bytes().u16(0x3f80).u16(0xc020)),
            (std::vector<float>{1, -2.5F}));
}

TEST(Codec, SignedBytesTimesScale) {
  Bytes bytes;
  bytes.u16(half_two);
  for (int i = 0; i < 32; ++i) bytes.u8(static_cast<unsigned>(i * 8 - 128) & 0xffU);
  const auto floats = decode(ElementType::q8_0, bytes);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(floats[static_cast<std::size_t>(i)], static_cast<float>(2 * (i * 8 - 128)));
}

TEST(Codec, FourBitsAroundEight) {
  Bytes bytes;
  bytes.u16(half_two);
  put_nibbles(bytes);
  const auto floats = decode(ElementType::q4_0, bytes);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto level = static_cast<float>(i);
    EXPECT_EQ(floats[i], 2 * (level - 8));
    EXPECT_EQ(floats[16 + i], 2 * (15 - level - 8));
  }
}

TEST(Codec, FourBitsAboveMinimum) {
  Bytes bytes;
  bytes.u16(half_two).u16(half_minus3);
  put_nibbles(bytes);
  const auto floats = decode(ElementType::q4_1, bytes);
  for (std::size_t i = 0; i < 16; ++i) {
    const auto level = static_cast<float>(i);
    EXPECT_EQ(floats[i], 2 * level - 3);
    EXPECT_EQ(floats[16 + i], 2 * (15 - level) - 3);
  }
}

// Bits 3 and 20 are set: elements 3 and 20 are 16 levels higher than their four bits say.
constexpr std::uint32_t two_high_bits = 1U << 3U | 1U << 20U;

float level_of(std::size_t i) {
  const auto low = static_cast<float>(i < 16 ? i : 31 - i);
  return i == 3 || i == 20 ? low + 16 : low;
}

TEST(Codec, FiveBitsAroundSixteen) {
  Bytes bytes;
  bytes.u16(half_minus3).u32(two_high_bits);
  put_nibbles(bytes);
  const auto floats = decode(ElementType::q5_0, bytes);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(floats[i], -3 * (level_of(i) - 16)) << i;
}

TEST(Codec, FiveBitsAboveMinimum) {
  Bytes bytes;
  bytes.u16(half_two).u16(half_minus3).u32(two_high_bits);
  put_nibbles(bytes);
  const auto floats = decode(ElementType::q5_1, bytes);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(floats[i], 2 * level_of(i) - 3) << i;
}

TEST(Codec, UnevenLevels) {
  Bytes bytes;
  bytes.u16(half_one);
  put_nibbles(bytes);
  const auto floats = decode(ElementType::iq4_nl, bytes);
  EXPECT_EQ(floats[0], -127);
  EXPECT_EQ(floats[8], 1);  // there is no zero
  EXPECT_EQ(floats[15], 113);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(floats[i], floats[31 - i]);
  for (std::size_t i = 1; i < 16; ++i) EXPECT_LT(floats[i - 1], floats[i]);
}

TEST(Codec, BlocksFollowEachOther) {
  Bytes bytes;
  for (const unsigned scale : {half_one, half_two}) {
    bytes.u16(scale);
    for (int i = 0; i < 32; ++i) bytes.u8(5);
  }
  const auto floats = decode(ElementType::q8_0, bytes);
  EXPECT_EQ(floats[31], 5);
  EXPECT_EQ(floats[32], 10);
}

// A row of q8_KV: its width is what the two sizes leave when each row has eight bytes of header.
TEST(Codec, RowsWithOneScale) {
  Bytes bytes;
  for (const float scale : {0.5F, -2.0F}) {
    bytes.f32(scale).i32(12345);  // the sum says nothing about values
    for (int i = 0; i < 64; ++i) bytes.u8(static_cast<unsigned>(i * 4 - 128) & 0xffU);
  }
  std::vector<float> floats(128);
  dequantize(ElementType::q8_KV, bytes.get(), floats);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto level = static_cast<float>(static_cast<int>(i) * 4 - 128);
    EXPECT_EQ(floats[i], 0.5F * level);
    EXPECT_EQ(floats[64 + i], -2 * level);
  }
  EXPECT_NO_THROW(dequantize(ElementType::q8_KV, Bytes().get(), {}));
}

TEST(Codec, RowsWithOneScaleMustBeWhole) {
  const auto sizes = [](std::size_t bytes, std::size_t elements) {
    std::vector<float> floats(elements);
    dequantize(ElementType::q8_KV, Bytes().filler(bytes).get(), floats);
  };
  EXPECT_NO_THROW(sizes(2 * 40, 64));
  EXPECT_NO_THROW(sizes(72, 64));
  EXPECT_THROW(sizes(64, 64), std::logic_error);      // no header
  EXPECT_THROW(sizes(76, 64), std::logic_error);      // half a header more
  EXPECT_THROW(sizes(64 + 3 * 8, 64), std::logic_error);  // three rows of 64 elements
  EXPECT_THROW(sizes(0, 32), std::logic_error);
}

// Nothing tells the width of the rows there.
TEST(Codec, RowsWithOneScaleAreNotRecodedBlockByBlock) {
  ByteVector halves(128);
  EXPECT_THROW(recode(ElementType::q8_KV, Bytes().filler(72).get(), ElementType::f16, halves),
               std::logic_error);
  ByteVector same(72);
  recode(ElementType::q8_KV, Bytes().filler(72).get(), ElementType::q8_KV, same);
  EXPECT_EQ(same, Bytes().filler(72).get());
}

TEST(Codec, EveryCacheTypeAndNoOther) {
  int decodable = 0;
  for (const ElementTypeInfo& type : element_types()) decodable += can_decode(type.type) ? 1 : 0;
  EXPECT_EQ(decodable, 9 + 2);  // q6_0 and q8_KV of ik_llama.cpp besides
  const ElementType q6_k = find_element_type("q6_K")->type;
  EXPECT_FALSE(can_decode(q6_k));
  std::vector<float> floats(256);
  EXPECT_THROW(dequantize(q6_k, Bytes().filler(210).get(), floats), Error);
}

TEST(Codec, SizesMustBelongTogether) {
  std::vector<float> floats(32);
  EXPECT_THROW(dequantize(ElementType::q8_0, Bytes().filler(33).get(), floats), std::logic_error);
  EXPECT_THROW(dequantize(ElementType::q8_0, Bytes().filler(68).get(), floats), std::logic_error);
}

}  // namespace
}  // namespace kvtool
