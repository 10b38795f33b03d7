// Model files: genuine ones, one with a value of every type, and hostile ones.
#include "kvtool/gguf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gguf/gguf_builder.h"
#include "gguf/read_everything.h"
#include "kvtool/error.h"
#include "support/largest_allocation.h"

namespace kvtool {
namespace {

using test::Bytes;
using test::ByteVector;
using test::GgufBuilder;
using test::open_bytes;
using test::read_everything;

GgufBuilder every_type() {
  GgufBuilder b;
  b.key("n.u8", GgufType::u8).u8(200);
  b.key("n.i8", GgufType::i8).u8(0xfe);  // -2
  b.key("n.u16", GgufType::u16).u16(60000);
  b.key("n.i16", GgufType::i16).u16(0xfffd);  // -3
  b.key("n.u32", GgufType::u32).u32(4000000000U);
  b.key("n.i32", GgufType::i32).i32(-4);
  b.key("n.u64", GgufType::u64).u64(~std::uint64_t{0});
  b.key("n.i64", GgufType::i64).u64(~std::uint64_t{4});  // -5
  b.key("n.f32", GgufType::f32).f32(0.5F);
  b.key("n.f64", GgufType::f64).u64(0xbfd0000000000000U);  // -0.25
  b.key("flag", GgufType::boolean).u8(1);
  b.string("general.architecture", "llama");
  b.strings("words", {"", "a", "\xe2\x96\x81the"});
  b.i32s("kinds", {1, -2, 3});
  b.array("floats", GgufType::f32, 2).f32(1.5F).f32(-2.0F);
  b.array("small", GgufType::u32, 2).u32(7).u32(0x7fffffffU);
  b.array("large", GgufType::u32, 1).u32(0x80000000U);
  Bytes& nested = b.array("nested", GgufType::array, 2);
  nested.u32(static_cast<std::uint32_t>(GgufType::u16)).u64(2).u16(1).u16(2);
  test::text64(nested.u32(static_cast<std::uint32_t>(GgufType::string)).u64(1), "x");
  b.tensor("token_embd.weight", {64, 300}, 1, 0);
  b.tensor("blk.0.attn_q.weight", {64, 2}, 8, 38400);
  b.tensor("odd", {3}, 1234, 64);
  return b;
}

// Opens and reads; true when there was nothing to complain about.
bool reads(const ByteVector& bytes) {
  try {
    read_everything(open_bytes(bytes));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), "made.gguf") << error.what();
    return false;
  }
}

std::string message_of(const ByteVector& bytes) {
  try {
    static_cast<void>(open_bytes(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Gguf, NumbersOfEveryType) {
  const Gguf model = open_bytes(every_type().bytes());
  EXPECT_EQ(model.version(), 3U);
  EXPECT_EQ(model.u64("n.u8"), 200U);
  EXPECT_EQ(model.i64("n.i8"), -2);
  EXPECT_EQ(model.u64("n.u16"), 60000U);
  EXPECT_EQ(model.i64("n.i16"), -3);
  EXPECT_EQ(model.u64("n.u32"), 4000000000U);
  EXPECT_EQ(model.i64("n.i32"), -4);
  EXPECT_EQ(model.u64("n.u64"), ~std::uint64_t{0});
  EXPECT_EQ(model.i64("n.i64"), -5);
  EXPECT_EQ(model.f64("n.f32"), 0.5);
  EXPECT_EQ(model.f64("n.f64"), -0.25);
  EXPECT_EQ(model.boolean("flag"), true);
  EXPECT_EQ(model.architecture(), "llama");
}

TEST(Gguf, GettersGiveNothingForOtherKinds) {
  const Gguf model = open_bytes(every_type().bytes());
  EXPECT_FALSE(model.u64("absent").has_value());
  EXPECT_FALSE(model.u64("n.i8").has_value());   // negative
  EXPECT_FALSE(model.i64("n.u64").has_value());  // too large
  EXPECT_FALSE(model.u64("n.f32").has_value());
  EXPECT_FALSE(model.f64("n.u8").has_value());
  EXPECT_FALSE(model.string("words").has_value());
  EXPECT_FALSE(model.strings("general.architecture").has_value());
  EXPECT_FALSE(model.i32s("floats").has_value());
  EXPECT_FALSE(model.i32s("large").has_value());
  EXPECT_FALSE(model.boolean("n.u8").has_value());
}

TEST(Gguf, Arrays) {
  const Gguf model = open_bytes(every_type().bytes());
  const auto words = model.strings("words");
  ASSERT_TRUE(words.has_value());
  ASSERT_EQ(words->size(), 3U);
  EXPECT_EQ((*words)[0], "");
  EXPECT_EQ((*words)[1], "a");
  EXPECT_EQ((*words)[2], "\xe2\x96\x81the");
  EXPECT_EQ(model.i32s("kinds"), (std::vector<std::int32_t>{1, -2, 3}));
  EXPECT_EQ(model.f32s("floats"), (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(model.i32s("small"), (std::vector<std::int32_t>{7, 0x7fffffff}));
  const GgufValue& nested = model.values().find("nested")->second;
  EXPECT_EQ(nested.element, GgufType::array);
  EXPECT_EQ(nested.count, 2U);
  EXPECT_EQ(nested.extent.size, 12U + 2 * 2 + 12 + 8 + 1);
}

TEST(Gguf, TensorTable) {
  const ByteVector bytes = every_type().bytes();
  const Gguf model = open_bytes(bytes);
  ASSERT_EQ(model.tensors().size(), 3U);
  const std::uint64_t data = (bytes.size() + 31) / 32 * 32;  // usual alignment
  const GgufTensor* embedding = model.tensor("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->shape, (std::vector<std::uint64_t>{64, 300}));
  EXPECT_EQ(embedding->offset, data);
  EXPECT_EQ(embedding->bytes, 64U * 300 * 2);                     // f16
  EXPECT_EQ(model.tensors()[1].bytes, 2U * 2 * 34);               // q8_0: 34 bytes for 32
  EXPECT_EQ(model.tensors()[1].offset, data + 38400);
  EXPECT_FALSE(model.tensor("odd")->bytes.has_value());
  EXPECT_EQ(model.tensor("absent"), nullptr);
}

TEST(Gguf, AlignmentOfTheFile) {
  GgufBuilder b;
  b.key("general.alignment", GgufType::u32).u32(128);
  b.tensor("t", {1}, 0, 0);
  EXPECT_EQ(open_bytes(b.bytes()).tensors()[0].offset % 128, 0U);
  for (const std::uint32_t wrong : {0U, 3U, 33U}) {
    GgufBuilder broken;
    broken.key("general.alignment", GgufType::u32).u32(wrong);
    EXPECT_TRUE(contains(message_of(broken.bytes()), "is no power of two")) << wrong;
  }
}

TEST(Gguf, GenuineModel) {
  const Gguf model = open_gguf(open_source(KVTOOL_TESTDATA "/models/llama.gguf"));
  EXPECT_EQ(model.architecture(), "llama");
  EXPECT_EQ(model.u64("llama.vocab_size"), 300U);
  EXPECT_EQ(model.strings("tokenizer.ggml.tokens")->size(), 300U);
  // The last tensor ends where the file ends, up to the alignment.
  std::uint64_t end = 0;
  for (const GgufTensor& tensor : model.tensors())
    end = std::max(end, tensor.offset + tensor.bytes.value());
  EXPECT_LE(end, model.source().size());
  EXPECT_LT(model.source().size() - end, 32U);
}

TEST(Gguf, OpensWithoutReadingTheWeights) {
  const Gguf model = open_gguf(open_source(KVTOOL_TESTDATA "/models/llama.gguf"));
  EXPECT_LT(model.source().bytes_read(), model.source().size() / 4);
}

TEST(Gguf, OtherVersionsAndFiles) {
  EXPECT_TRUE(reads(every_type().bytes(2)));
  EXPECT_TRUE(contains(message_of(every_type().bytes(1)), "version: 1 is not read here"));
  EXPECT_TRUE(contains(message_of(every_type().bytes(4)), "version: 4 is not read here"));
  EXPECT_TRUE(contains(message_of(every_type().bytes(0x03000000)), "big-endian"));
  ByteVector other = every_type().bytes();
  other[0] = std::byte{'g'};
  EXPECT_TRUE(contains(message_of(other), "offset 0x0: magic: this is not a model (GGUF)"));
  EXPECT_TRUE(contains(message_of({}), "magic: 4 bytes expected, 0 remain"));
}

TEST(Gguf, KeyThatAppearsTwice) {
  GgufBuilder b;
  b.string("a", "1").string("a", "2");
  EXPECT_TRUE(contains(message_of(b.bytes()), "key: appears twice"));
}

TEST(Gguf, TensorsThatCannotBe) {
  EXPECT_TRUE(contains(message_of(GgufBuilder().tensor("t", {33}, 8, 0).bytes()),
                       "33 elements are no whole blocks of q8_0"));
  EXPECT_TRUE(contains(message_of(GgufBuilder().tensor("t", {1, 1, 1, 1, 1}, 0, 0).bytes()),
                       "dimension_count: 5, at most 4"));
  const std::uint64_t huge = std::uint64_t{1} << 62U;
  EXPECT_TRUE(contains(message_of(GgufBuilder().tensor("t", {huge, 2}, 0, 0).bytes()),
                       "does not fit in 64 bits"));
  EXPECT_TRUE(contains(message_of(GgufBuilder().tensor("t", {8}, 0, ~std::uint64_t{0}).bytes()),
                       "does not fit in 64 bits"));
}

ByteVector nested_arrays(int depth) {
  GgufBuilder b;
  Bytes& out = b.array("deep", GgufType::array, 1);
  for (int d = 2; d < depth; ++d)
    out.u32(static_cast<std::uint32_t>(GgufType::array)).u64(1);
  out.u32(static_cast<std::uint32_t>(GgufType::u8)).u64(1).u8(0);
  return b.bytes();
}

TEST(Gguf, NestingIsLimited) {
  EXPECT_TRUE(reads(nested_arrays(4)));
  EXPECT_TRUE(contains(message_of(nested_arrays(5)), "nested more than 4 deep"));
  EXPECT_TRUE(contains(message_of(nested_arrays(100000)), "nested more than 4 deep"));
}

TEST(Gguf, TruncatedAtEveryLength) {
  const ByteVector whole = every_type().bytes();
  ASSERT_TRUE(reads(whole));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(reads({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}))
        << length;
}

TEST(Gguf, EveryByteCorrupted) {
  const ByteVector whole = every_type().bytes();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const unsigned value : {0x00U, 0x01U, 0x09U, 0x7fU, 0x80U, 0xffU}) {
      ByteVector bytes = whole;
      bytes[at] = static_cast<std::byte>(value);
      test::watch_allocations();
      static_cast<void>(reads(bytes));
      EXPECT_LE(test::largest_allocation(), 32768U) << at;  // the read buffer has half of that
    }
}

TEST(Gguf, HostileCounts) {
  for (const std::uint64_t count : {std::uint64_t{1} << 62U, ~std::uint64_t{0}, std::uint64_t{999}}) {
    test::watch_allocations();
    Bytes head;
    head.u32(0x46554747).u32(3);
    EXPECT_TRUE(contains(message_of(Bytes(head).u64(count).u64(0).get()), "tensor_count")) << count;
    EXPECT_TRUE(contains(message_of(Bytes(head).u64(0).u64(count).get()), "key_count")) << count;
    for (const GgufType type : {GgufType::u8, GgufType::u64, GgufType::string, GgufType::array}) {
      GgufBuilder b;
      b.array("many", type, count).u64(0);
      EXPECT_TRUE(contains(message_of(b.bytes()), "element_count")) << count;
    }
    GgufBuilder text;
    text.key("long", GgufType::string).u64(count).text("abc");
    EXPECT_TRUE(contains(message_of(text.bytes()), "string_length")) << count;
    EXPECT_LE(test::largest_allocation(), 32768U);
  }
}

// Fewer things than bytes remain, but not of their size.
TEST(Gguf, CountsAreBoundedByTheSizeOfWhatTheyCount) {
  for (const GgufType type : {GgufType::u64, GgufType::f32, GgufType::string, GgufType::array}) {
    GgufBuilder b;
    b.array("many", type, 100).filler(200);
    EXPECT_TRUE(contains(message_of(b.bytes()), "element_count: 100 of at least"));
  }
}

TEST(Gguf, TheWatchOnAllocationsWorks) {
  test::watch_allocations();
  EXPECT_EQ(std::vector<char>(100000).size(), 100000U);
  EXPECT_GE(test::largest_allocation(), 100000U);
}

}  // namespace
}  // namespace kvtool
