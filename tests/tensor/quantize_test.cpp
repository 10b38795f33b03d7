// Blocks whose levels can be told by hand: the furthest element is chosen so that the scale is 1.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kvtool/error.h"
#include "tensor/dump_tensors.h"

namespace kvtool::test {
namespace {

using Floats = std::vector<float>;

// A block that begins with these elements and goes on with zeros.
Floats block(Floats first) {
  first.resize(32);
  return first;
}

unsigned byte_at(const ByteVector& bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes.at(at));
}

TEST(Quantize, SignedBytesRoundTiesToEven) {
  const auto bytes = encoded(ElementType::q8_0, block({127, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -127}));
  EXPECT_EQ(peek<std::uint16_t>(bytes, 0), 0x3c00);  // 127 / 127
  const std::vector<int> expected = {127, 0, 2, 2, 0, -2, -127, 0};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(peek<std::int8_t>(bytes, 2 + i), expected[i]) << i;
}

TEST(Quantize, FourBitsPutTheFurthestOnLevelZero) {
  const auto negative = encoded(ElementType::q4_0, block({-8, 7, 8, 0.5F, 0.49F, -0.5F}));
  EXPECT_EQ(peek<std::uint16_t>(negative, 0), 0x3c00);
  const std::vector<unsigned> levels = {0, 15, 15, 9, 8, 8, 8};  // 8 would be level 16: capped
  for (std::size_t i = 0; i < levels.size(); ++i)
    EXPECT_EQ(byte_at(negative, 2 + i) & 0xfU, levels[i]) << i;
  const auto positive = encoded(ElementType::q4_0, block({8, -7}));
  EXPECT_EQ(peek<std::uint16_t>(positive, 0), 0xbc00);  // scale -1
  EXPECT_EQ(byte_at(positive, 2) & 0xfU, 0U);
  EXPECT_EQ(byte_at(positive, 3) & 0xfU, 15U);
}

// Of two elements as far from zero as each other the first gives the sign.
TEST(Quantize, FourBitsFirstOfTwo) {
  EXPECT_EQ(peek<std::uint16_t>(encoded(ElementType::q4_0, block({8, -8})), 0), 0xbc00);
  EXPECT_EQ(peek<std::uint16_t>(encoded(ElementType::q4_0, block({-8, 8})), 0), 0x3c00);
}

TEST(Quantize, FourBitsAboveMinimum) {
  Floats floats(32, -3.0F);
  floats[1] = 12;     // the range is 15
  floats[2] = -2.5F;  // half a level rounds up
  floats[17] = 0;     // the high half of byte 1
  const auto bytes = encoded(ElementType::q4_1, floats);
  EXPECT_EQ(peek<std::uint16_t>(bytes, 0), 0x3c00);
  EXPECT_EQ(peek<std::uint16_t>(bytes, 2), 0xc200);  // -3
  EXPECT_EQ(byte_at(bytes, 4), 0U);
  EXPECT_EQ(byte_at(bytes, 5), 0x3fU);
  EXPECT_EQ(byte_at(bytes, 6), 1U);
}

TEST(Quantize, FifthBitsLieApart) {
  const auto bytes = encoded(ElementType::q5_0, block({-16, 15, 16, 1}));
  EXPECT_EQ(peek<std::uint16_t>(bytes, 0), 0x3c00);
  EXPECT_EQ(peek<std::uint32_t>(bytes, 2), 0xfffffffeU);  // all but the first are 16 and more
  EXPECT_EQ(byte_at(bytes, 6) & 0xfU, 0U);
  EXPECT_EQ(byte_at(bytes, 7) & 0xfU, 15U);
  EXPECT_EQ(byte_at(bytes, 8) & 0xfU, 15U);
  EXPECT_EQ(byte_at(bytes, 9) & 0xfU, 1U);
}

TEST(Quantize, FiveBitsAboveMinimum) {
  Floats floats(32, 1.0F);
  floats[1] = 32;  // the range is 31
  floats[31] = 18;
  const auto bytes = encoded(ElementType::q5_1, floats);
  EXPECT_EQ(peek<std::uint16_t>(bytes, 0), 0x3c00);
  EXPECT_EQ(peek<std::uint16_t>(bytes, 2), 0x3c00);
  EXPECT_EQ(peek<std::uint32_t>(bytes, 4), 1U << 31U | 1U << 1U);
  EXPECT_EQ(byte_at(bytes, 9), 0x0fU);   // elements 1 and 17: 31 and 0
  EXPECT_EQ(byte_at(bytes, 23), 0x10U);  // elements 15 and 31: 0 and 17
}

// An element on each level: nothing is lost, so the fitted scale is the true one.
TEST(Quantize, UnevenLevelsAreTheirOwn) {
  const Floats levels = {-127, -104, -83, -65, -49, -35, -22, -10,
                         1,    13,   25,  38,  53,  69,  89,  113};
  Floats floats = levels;
  floats.insert(floats.end(), levels.begin(), levels.end());
  const auto bytes = encoded(ElementType::iq4_nl, floats);
  EXPECT_EQ(peek<std::uint16_t>(bytes, 0), 0x3c00);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(byte_at(bytes, 2 + i), i * 17);
}

TEST(Quantize, ZerosStayZeros) {
  for (const ElementTypeInfo& type : element_types()) {
    if (!can_encode(type.type)) continue;
    const ByteVector bytes = encoded(type.type, Floats(64));
    for (const float x : decoded(type.type, bytes)) EXPECT_EQ(x, 0) << type.name;
  }
}

// A level is at most half a step off, and a step is the range over the number of levels.
TEST(Quantize, ErrorIsHalfAStep) {
  Floats floats(32);
  for (std::size_t i = 0; i < 32; ++i) floats[i] = std::sin(static_cast<float>(i * i));
  const std::vector<std::pair<ElementType, float>> half_steps = {
      {ElementType::q8_0, 1.0F / 254}, {ElementType::q5_0, 1.0F / 16}, {ElementType::q5_1, 1.0F / 31},
      {ElementType::q4_0, 1.0F / 8},   {ElementType::q4_1, 1.0F / 15}, {ElementType::iq4_nl, 1.0F / 8}};
  for (const auto& [type, half_step] : half_steps) {
    const Floats back = decoded(type, encoded(type, floats));
    for (std::size_t i = 0; i < 32; ++i)
      EXPECT_NEAR(back[i], floats[i], half_step * 1.01F) << info(type).name;
  }
}

TEST(Quantize, NanOfEachWidthStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(float_of_half(half_of_float(nan))));
  EXPECT_TRUE(std::isnan(float_of_bfloat(bfloat_of_float(nan))));
  // All payload in the bits that are cut off: without care this becomes infinity.
  const float low_payload = std::bit_cast<float>(0x7f800001U);
  EXPECT_TRUE(std::isnan(float_of_half(half_of_float(low_payload))));
  EXPECT_TRUE(std::isnan(float_of_bfloat(bfloat_of_float(low_payload))));
}

TEST(Quantize, BfloatRoundsToNearestEven) {
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x3f808000U)), 0x3f80);  // tie, even below
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x3f818000U)), 0x3f82);  // tie, even above
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x7f7fffffU)), 0x7f80);  // the largest float
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x00018000U)), 0x0002);  // subnormals are kept
}

TEST(Quantize, WidthThatIsNoMultipleOfTheBlockIsRefused) {
  EXPECT_EQ(row_bytes(ElementType::q8_0, 64), 68U);
  EXPECT_EQ(row_bytes(ElementType::f16, 33), 66U);
  try {
    static_cast<void>(row_bytes(ElementType::q8_0, 48));
    FAIL() << "48 elements are one and a half blocks";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::refused);
    EXPECT_EQ(error.message(), "q8_0 stores blocks of 32 elements, and 48 are no multiple of that");
  }
  ByteVector bytes(34);
  EXPECT_THROW(quantize(ElementType::q8_0, Floats(48), bytes), Error);
  EXPECT_THROW(recode(ElementType::f16, Bytes().filler(96).get(), ElementType::q8_0, bytes), Error);
  EXPECT_THROW(static_cast<void>(row_bytes(ElementType::f32, UINT64_MAX)), Error);
}

TEST(Quantize, SizesMustBelongTogether) {
  ByteVector bytes(33);
  EXPECT_THROW(quantize(ElementType::q8_0, Floats(32), bytes), std::logic_error);
  bytes.resize(68);
  EXPECT_THROW(quantize(ElementType::q8_0, Floats(32), bytes), std::logic_error);
  EXPECT_THROW(recode(ElementType::f16, Bytes().filler(64).get(), ElementType::q8_0, bytes),
               std::logic_error);
}

TEST(Quantize, TypesThatNoCacheHasAreUnsupported) {
  const ElementType q6_k = find_element_type("q6_K")->type;
  ByteVector bytes(210);
  EXPECT_FALSE(can_encode(q6_k));
  EXPECT_THROW(quantize(q6_k, Floats(256), bytes), Error);
  for (const ElementType type : {ElementType::q6_0, ElementType::q8_KV}) {
    EXPECT_FALSE(can_encode(type));
    bytes.resize(static_cast<std::size_t>(row_bytes(type, 64)));
    EXPECT_THROW(quantize(type, Floats(64), bytes), Error);
  }
}

}  // namespace
}  // namespace kvtool::test
