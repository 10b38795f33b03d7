// Which model files are one model, and of which class a difference is.
#include "kvtool/model_stamp.h"

#include <gtest/gtest.h>

#include "gguf/gguf_builder.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

struct Made {
  std::string arch = "llama";
  std::string name = "a name";
  float freq_base = 10000;
  std::int32_t context = 4096;
  std::vector<std::string> tokens = {"a", "b", "c"};
  std::vector<std::uint64_t> shape = {32, 4};
  std::int32_t type = 0;  // f32
  char weight = 'w';
  bool cut = false;  // the file ends with its table
};

Gguf made(const Made& m) {
  GgufBuilder builder;
  builder.string("general.architecture", m.arch).string("general.name", m.name);
  builder.key(m.arch + ".rope.freq_base", GgufType::f32).f32(m.freq_base);
  builder.key(m.arch + ".context_length", GgufType::i32).i32(m.context);
  builder.strings("tokenizer.ggml.tokens", m.tokens);
  builder.tensor("blk.0.attn_k.weight", m.shape, m.type, 0);
  ByteVector bytes = builder.bytes();
  if (m.cut) return open_bytes(bytes);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  bytes.resize(bytes.size() + m.shape[0] * m.shape[1] * 4, static_cast<std::byte>(m.weight));
  return open_bytes(bytes);
}

// The differences as "class key".
std::vector<std::string> found(const Made& a, const Made& b) {
  std::vector<std::string> list;
  for (const StampDifference& d : differences(stamp_of(made(a)), stamp_of(made(b))))
    list.push_back(name_of(d.stamp_class) + " " + d.key);
  return list;
}

using List = std::vector<std::string>;

TEST(ModelStamp, OneModel) { EXPECT_EQ(found({}, {}), List()); }

TEST(ModelStamp, HardDifferences) {
  Made other;
  other.freq_base = 500000;
  EXPECT_EQ(found({}, other), List{"hard llama.rope.freq_base"});
  other = {};
  other.tokens[1] = "x";
  EXPECT_EQ(found({}, other), List{"hard tokenizer.ggml.tokens"});
  other = {};
  other.weight = 'x';  // a fine-tune: the same table, other numbers
  EXPECT_EQ(found({}, other), List{"hard weights"});
  other = {};
  other.shape = {4, 32};
  EXPECT_EQ(found({}, other), List{"hard tensors"});
  other = {};
  other.arch = "qwen2";
  EXPECT_TRUE(any_hard(differences(stamp_of(made({})), stamp_of(made(other)))));
}

TEST(ModelStamp, AnotherQuantizationIsSoft) {
  Made other;
  other.type = 1;  // f16
  other.weight = 'x';
  EXPECT_EQ(found({}, other), List{"soft tensor_types"});
}

TEST(ModelStamp, NamesAndTrainedContextAreNoDifference) {
  Made other;
  other.name = "another name";
  other.context = 8192;
  const List list = found({}, other);
  EXPECT_EQ(list, (List{"info general.name", "info llama.context_length"}));
  EXPECT_FALSE(any_hard(differences(stamp_of(made({})), stamp_of(made(other)))));
}

TEST(ModelStamp, UnknownIsNeverAMatch) {
  Made cut;
  cut.cut = true;
  EXPECT_EQ(found({}, cut), List{"hard weights"});
  EXPECT_EQ(found(cut, cut), List{"hard weights"});
}

TEST(ModelStamp, TextAndBack) {
  for (const auto& entry : std::filesystem::directory_iterator(testdata("models"))) {
    if (entry.path().extension() != ".gguf") continue;
    const ModelStamp stamp = stamp_of(open_gguf(open_source(entry.path().string())));
    EXPECT_EQ(stamp_from_text(stamp_text(stamp)), stamp) << entry.path();
    EXPECT_TRUE(differences(stamp, stamp).empty()) << entry.path();
  }
}

}  // namespace
}  // namespace kvtool::test
