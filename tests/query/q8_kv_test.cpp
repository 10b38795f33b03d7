// K of type q8_KV: which rows a file has, what they stand for, and what can be done with them.
#include <gtest/gtest.h>

#include <cmath>

#include "kvtool/check.h"
#include "kvtool/codec.h"
#include "kvtool/compare.h"
#include "kvtool/convert.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/stats.h"
#include "support/contents.h"
#include "support/q8_kv.h"
#include "support/sound.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t cells = 34;
constexpr std::uint32_t prompt_cells = 29;  // llama-f16.ggsq begins with the same prompt
constexpr std::uint64_t head = 32;
// The file has 34 rows of 72 bytes, the memory had 34 times two rows of 40.
constexpr std::uint64_t whole = 34 * 72 / 80;

const Stream& stream_of(const Dump& dump) { return dump.state.memories.front().streams.front(); }

std::shared_ptr<const Dump> genuine(const std::string& file = two_heads) {
  return std::make_shared<const Dump>(open_dump(testdata(file).string()));
}

std::vector<std::string> codes_of(const Dump& dump, bool deep = false) {
  std::vector<std::string> codes;
  for (const Finding& finding : check(dump, {deep}))
    if (finding.severity == Severity::error) codes.push_back(finding.code);
  return codes;
}

TEST(TwoHeads, AreFoundByTheSumsOfTheirRows) {
  const auto dump = genuine();
  for (const Layer& layer : stream_of(*dump).layers) {
    EXPECT_EQ(layer.k.heads, 2U);
    EXPECT_EQ(layer.k.cell_elements(), 2 * head);
    EXPECT_TRUE(is_misaligned(layer.k));
    EXPECT_FALSE(is_misaligned(layer.v));
    const WholeCells rows = whole_cells(layer.k, cells);
    EXPECT_EQ(rows.count, whole);
    EXPECT_EQ(rows.tensor.row_bytes, 2 * (8 + head));
    EXPECT_EQ(rows.tensor.cell_elements(), 2 * head);
    EXPECT_FALSE(is_misaligned(rows.tensor));
  }
}

// K of the first layer does not depend on how the cache is stored: the fork's own f16 file has the
// numbers that were rounded. Half a level is what rounding may cost, and a little what f16 did.
TEST(TwoHeads, StandForTheNumbersThatTheForkKeptAsF16) {
  const auto dump = genuine();
  const auto plain = genuine("server/ik_llama/llama-f16.ggsq");
  const WholeCells rows = whole_cells(stream_of(*dump).layers.front().k, cells);
  const Tensor& k = stream_of(*plain).layers.front().k;
  for (std::uint64_t c = 0; c < prompt_cells; ++c) {
    const auto found = cell_values(*dump, stream_of(*dump), rows.tensor, c);
    const auto expected = cell_values(*plain, stream_of(*plain), k, c);
    const ByteVector bytes = cell_payload(*dump, stream_of(*dump), rows.tensor, c);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto scale = peek<float>(bytes, i / head * (8 + head));
      ASSERT_NEAR(found[i], expected[i], 0.51 * scale + std::abs(expected[i]) * 0x1p-10)
          << "cell " << c << " element " << i;
    }
  }
}

TEST(TwoHeads, LackTheirLastCellsAndCheckSaysSo) {
  EXPECT_EQ(codes_of(*genuine()), std::vector<std::string>{"cut_rows"});
  EXPECT_EQ(codes_of(*genuine(), true), std::vector<std::string>{"cut_rows"});
  const auto findings = check(*genuine());
  EXPECT_NE(findings.front().message.find("4 of its 34 cells"), std::string::npos)
      << findings.front().message;
}

TEST(TwoHeads, AreCountedAsFarAsTheyAreThere) {
  StatsOptions options;
  options.cell_rms = true;
  const auto list = stats_of(*genuine(), options);
  EXPECT_EQ(list[0].cells, whole);
  EXPECT_EQ(list[0].missing_cells, cells - whole);
  ASSERT_EQ(list[0].cell_rms.size(), cells);
  EXPECT_FALSE(std::isnan(list[0].cell_rms[whole - 1]));
  EXPECT_TRUE(std::isnan(list[0].cell_rms[whole]));
  EXPECT_LT(list[0].max, 10);  // misread rows have headers among their levels, and wild scales
  EXPECT_EQ(list[1].cells, cells);
  EXPECT_EQ(list[1].missing_cells, 0U);
}

TEST(TwoHeads, AreCopiedAndNotMovedOrCompared) {
  const auto dump = genuine();
  EXPECT_EQ(flaw_of(dump, read_file(testdata(two_heads))), "");
  EXPECT_THROW(rewritten(swap(dump, {0, 0, 2}, {0, 0, 7})), Error);
  ByteVector other = read_file(testdata(two_heads));
  other[static_cast<std::size_t>(stream_of(*dump).layers.front().k.extent.offset) + 20] ^=
      std::byte{1};
  const auto comparison = compare(*dump, *opened_bytes(other));
  EXPECT_EQ(comparison.verdict, Verdict::not_comparable) << comparison.words;
}

// What is there has its numbers in another type, and the rest goes if that is allowed.
TEST(TwoHeads, BecomeAnotherTypeUpToTheFirstLostCell) {
  const auto dump = genuine();
  Target target;
  target.type_k = ElementType::f32;
  EXPECT_THROW(static_cast<void>(convert(dump, target)), Error);
  ConvertOptions options;
  options.drop = {"cells"};
  options.rotation = StatedRotation::none;
  const auto floats = applied(convert(dump, target, options).plan);
  EXPECT_EQ(codes_of(*floats, true), std::vector<std::string>{});
  EXPECT_EQ(stream_of(*floats).cells.size(), whole);
  EXPECT_EQ(floats->tokens.ids,
            std::vector<TokenId>(dump->tokens.ids.begin(), dump->tokens.ids.begin() + whole));
  for (std::size_t l = 0; l < stream_of(*dump).layers.size(); ++l) {
    const Layer& from = stream_of(*dump).layers[l];
    const Layer& to = stream_of(*floats).layers[l];
    const Tensor k = whole_cells(from.k, cells).tensor;
    for (std::uint64_t c = 0; c < whole; ++c) {
      EXPECT_EQ(stream_of(*floats).cells.position(c), stream_of(*dump).cells.position(c));
      EXPECT_EQ(cell_values(*floats, stream_of(*floats), to.k, c),
                cell_values(*dump, stream_of(*dump), k, c));
      EXPECT_EQ(cell_payload(*floats, stream_of(*floats), to.v, c),
                cell_payload(*dump, stream_of(*dump), from.v, c));
    }
  }
}

// The fork computed the same from its other type, which has no row headers.
TEST(TwoHeads, AgreeWithTheCacheOfTheOtherTypeOfTheFork) {
  Target target;
  target.type_k = ElementType::f16;
  ConvertOptions options;
  options.drop = {"cells"};
  options.rotation = StatedRotation::none;
  const auto halves = applied(convert(genuine(), target, options).plan);
  const Comparison comparison = compare(*halves, *genuine("server/ik_llama/llama-q6_0.ggsq"));
  ASSERT_EQ(comparison.tensors.size(), 4U);
  for (const TensorComparison& tensor : comparison.tensors) {
    EXPECT_EQ(tensor.cells, whole);
    EXPECT_LT(tensor.relative_l2, 0.04) << tensor.layer << tensor.is_v;
  }
}

TEST(TwoHeads, CannotStayOfTheirType) {
  ConvertOptions options;
  options.drop = {"cells"};
  Target target;
  target.flash_attention = false;
  EXPECT_THROW(static_cast<void>(convert(genuine(), target, options)), Error);
  target.type_k = ElementType::q8_KV;
  EXPECT_THROW(static_cast<void>(convert(genuine(), target, options)), Error);
}

TEST(OneHead, LiesAsTheFileSays) {
  const auto dump = opened_bytes(one_head_bytes());
  for (const Layer& layer : stream_of(*dump).layers) EXPECT_EQ(layer.k.heads, 1U);
  EXPECT_EQ(codes_of(*dump, true), std::vector<std::string>{});
}

TEST(OneHead, IsScaleTimesLevel) {
  const auto dump = opened_bytes(one_head_bytes());
  const auto values = cell_values(*dump, stream_of(*dump), stream_of(*dump).layers[1].k, 3);
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], 0.5F * static_cast<std::int8_t>(i * 37 + 3 * 11 + 5));
  const auto list = stats_of(*dump);
  EXPECT_EQ(list[0].missing_cells, 0U);
  EXPECT_EQ(list[0].cells, cells);
}

TEST(OneHead, MovesWhole) {
  const auto dump = opened_bytes(one_head_bytes());
  const auto once = applied(swap(dump, {0, 0, 2}, {0, 0, 7}));
  EXPECT_EQ(contents_of(*once), contents_of(*dump));
  const Tensor& k = stream_of(*once).layers.front().k;
  EXPECT_EQ(cell_payload(*once, stream_of(*once), k, 2), one_head_row(0, 7, 64));
  EXPECT_EQ(rewritten(swap(once, {0, 0, 2}, {0, 0, 7})), one_head_bytes());
}

TEST(OneHead, BecomesOtherTypesAndNotTheOtherWay) {
  const auto dump = opened_bytes(one_head_bytes());
  Target target;
  target.type_k = ElementType::f16;
  ConvertOptions options;
  options.rotation = StatedRotation::none;
  const auto halves = applied(convert(dump, target, options).plan);
  const Tensor& from = stream_of(*dump).layers[1].k;
  const Tensor& to = stream_of(*halves).layers[1].k;
  ASSERT_EQ(to.type, ElementType::f16);
  for (std::uint64_t c = 0; c < cells; ++c)  // levels of seven bits times a power of two fit
    EXPECT_EQ(cell_values(*halves, stream_of(*halves), to, c),
              cell_values(*dump, stream_of(*dump), from, c));
  EXPECT_EQ(compare(*dump, *halves).verdict, Verdict::same_content);
  Target back;
  back.type_k = ElementType::q8_KV;
  EXPECT_THROW(rewritten(convert(halves, back).plan), Error);
}

TEST(OneHead, WithAWrongByteDoesNotAddUp) {
  ByteVector bytes = one_head_bytes();
  const auto sound = opened_bytes(bytes);
  const Tensor& k = stream_of(*sound).layers.front().k;
  const std::uint64_t level = k.extent.offset + 20 * k.row_bytes + 30;
  bytes[static_cast<std::size_t>(level)] ^= std::byte{4};
  EXPECT_EQ(codes_of(*opened_bytes(bytes), true), std::vector<std::string>{"wrong_sum"});
  poke(bytes, static_cast<std::size_t>(k.extent.offset + 20 * k.row_bytes), INFINITY);
  EXPECT_EQ(codes_of(*opened_bytes(bytes), true),
            (std::vector<std::string>{"not_finite", "wrong_sum"}));
}

// Rows of nothing but zeros fit any number of heads.
TEST(OneHead, IsBelievedWhereNothingTells) {
  ByteVector bytes = one_head_bytes();
  const auto dump = opened_bytes(bytes);
  for (const Layer& layer : stream_of(*dump).layers)
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(layer.k.extent.offset),
                layer.k.extent.size, std::byte{0});
  EXPECT_EQ(stream_of(*opened_bytes(bytes)).layers.front().k.heads, 1U);
}

}  // namespace
}  // namespace kvtool::test
