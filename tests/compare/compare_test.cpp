// Verdicts of `diff` on genuine pairs, and on copies that were damaged in one known way each.
#include "kvtool/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kvtool/codec.h"
#include "kvtool/convert.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"
#include "kvtool/map.h"
#include "kvtool/open.h"
#include "kvtool/write.h"
#include "support/changed_source.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::ByteVector;

std::shared_ptr<const Dump> open(ByteVector bytes) {
  return std::make_shared<Dump>(open_dump(memory_source("made", std::move(bytes))));
}

std::shared_ptr<const Dump> open(const std::string& path) {
  return std::make_shared<Dump>(open_dump(test::testdata(path).string()));
}

std::shared_ptr<const Dump> written(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  return open(sink.bytes());
}

const std::string multi = "modern/b11118/llama-multi-uni.ggsn";
const std::string streams = "modern/b11118/llama-multi-streams.ggsn";
const std::string simple = "modern/b11118/llama-simple.seq0.ggsq";

// A range of a file by the end of its label.
MapRange range_of(const Dump& dump, const std::string& label) {
  for (const MapRange& range : map_of(dump, true))
    if (range.label == label) return range;
  throw std::runtime_error("no range " + label);
}

ByteVector bytes_of(const Dump& dump) {
  ByteVector bytes(dump.source->size());
  dump.source->read_at(0, bytes);
  return bytes;
}

std::string tensor(int layer, const std::string& part) {
  return "memory[0].stream[0].layer[" + std::to_string(layer) + "]." + part + "_data";
}

void exchange(ByteVector& bytes, const MapRange& a, const MapRange& b) {
  ASSERT_EQ(a.size, b.size);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(a.offset),
                   bytes.begin() + static_cast<std::ptrdiff_t>(a.offset + a.size),
                   bytes.begin() + static_cast<std::ptrdiff_t>(b.offset));
}

void expect_verdict(const Dump& a, const Dump& b, Verdict verdict) {
  const Comparison c = compare(a, b);
  EXPECT_EQ(name_of(c.verdict), name_of(verdict)) << c.words;
}

TEST(Compare, IdenticalBytes) {
  expect_verdict(*open(multi), *open(multi), Verdict::identical_bytes);
}

TEST(Compare, DefragmentedIsTheSameContent) {
  const auto dump = open(multi);
  const auto tidy = written(defrag(dump));
  const Comparison c = compare(*dump, *tidy);
  EXPECT_EQ(c.verdict, Verdict::same_content) << c.words;
  EXPECT_TRUE(c.same());
  EXPECT_GT(c.cells[0].moved, 0U);
  EXPECT_EQ(c.cells[0].matched, 32U);
}

// The same run, saved by llama.cpp from a unified cache and from one stream a sequence.
TEST(Compare, UnifiedAndStreamsAreTheSameContent) {
  const Comparison c = compare(*open(multi), *open(streams));
  EXPECT_EQ(c.verdict, Verdict::same_content) << c.words;
  EXPECT_EQ(c.cells[0].only_a_count + c.cells[0].only_b_count, 0U);
}

TEST(Compare, TransposedIsTheSameContent) {
  const auto dump = open(simple);
  Target target;
  target.flash_attention = false;
  expect_verdict(*dump, *written(convert(dump, target).plan), Verdict::same_content);
}

TEST(Compare, AnotherVersionIsTheSameContent) {
  const auto dump = open(simple);
  Target target;
  target.era = era_of_loader("0.7.0");
  expect_verdict(*dump, *written(convert(dump, target).plan), Verdict::same_content);
}

TEST(Compare, QuantizedIsNoiseOfThatType) {
  const auto f32 = open("modern/b11118/llama-fa-f32.ggsn");
  for (const char* type : {"q8_0", "q4_0", "q4_1", "q5_0", "iq4_nl", "bf16"}) {
    const auto other = open(std::string("modern/b11118/llama-fa-") + type + ".ggsn");
    expect_verdict(*f32, *other, Verdict::within_noise);
  }
}

TEST(Compare, RotatedIsSaidSo) {
  const auto f16 = open("modern/b11118/llamah64-fa-f16.seq0.ggsq");
  expect_verdict(*f16, *open("modern/b11118/llamah64-fa-q8_0.seq0.ggsq"), Verdict::rotated);
  expect_verdict(*f16, *open("modern/b11118/llamah64-fa-q8_0-norot.seq0.ggsq"),
                 Verdict::within_noise);
}

TEST(Compare, OneLayerZeroed) {
  const auto dump = open(multi);
  ByteVector bytes = bytes_of(*dump);
  const MapRange k = range_of(*dump, tensor(1, "k"));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(k.offset), k.size, std::byte{0});
  const auto zeroed = open(bytes);
  expect_verdict(*dump, *zeroed, Verdict::one_layer_wrong);
}

// All of a layer, in caches of other kinds: a window beside the main one, states of a recurrent model.
void expect_zeroed_layer_is_found(const std::string& path, const std::vector<std::string>& labels) {
  const auto dump = open(path);
  ByteVector bytes = bytes_of(*dump);
  for (const std::string& label : labels) {
    const MapRange range = range_of(*dump, label);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(range.offset), range.size, std::byte{0});
  }
  expect_verdict(*dump, *open(bytes), Verdict::one_layer_wrong);
}

TEST(Compare, OneLayerZeroedInOtherCaches) {
  expect_zeroed_layer_is_found(multi, {tensor(1, "k"), tensor(1, "v")});
  expect_zeroed_layer_is_found("modern/b11118/llama-nofa-multi-uni.ggsn", {tensor(1, "v")});
  expect_zeroed_layer_is_found("server/b0.7.0/gemma3.ggsq",
                               {"memory[1].stream[0].layer[3].k_data",
                                "memory[1].stream[0].layer[3].v_data"});
  expect_zeroed_layer_is_found("server/b0.7.0/mamba.ggsq", {"memory[0].layer[1].s_data"});
}

TEST(Compare, TwoLayersExchanged) {
  const auto dump = open(multi);
  ByteVector bytes = bytes_of(*dump);
  exchange(bytes, range_of(*dump, tensor(0, "k")), range_of(*dump, tensor(1, "k")));
  exchange(bytes, range_of(*dump, tensor(0, "v")), range_of(*dump, tensor(1, "v")));
  expect_verdict(*dump, *open(bytes), Verdict::layers_exchanged);
}

TEST(Compare, KeysAndValuesExchanged) {
  const auto dump = open(multi);
  ByteVector bytes = bytes_of(*dump);
  for (const int layer : {0, 1})
    exchange(bytes, range_of(*dump, tensor(layer, "k")), range_of(*dump, tensor(layer, "v")));
  expect_verdict(*dump, *open(bytes), Verdict::keys_and_values_exchanged);
}

TEST(Compare, LabelsOfTwoCellsExchanged) {
  const auto dump = open(simple);
  ByteVector bytes = bytes_of(*dump);
  const MapRange a = range_of(*dump, "memory[0].stream[0].cell[3].pos");
  const MapRange b = range_of(*dump, "memory[0].stream[0].cell[9].pos");
  exchange(bytes, a, b);
  expect_verdict(*dump, *open(bytes), Verdict::relabelled);
}

TEST(Compare, OneCellMislabelled) {
  const auto dump = open(simple);
  ByteVector bytes = bytes_of(*dump);
  const MapRange pos = range_of(*dump, "memory[0].stream[0].cell[5].pos");
  test::poke<std::int32_t>(bytes, pos.offset, 900);
  const Comparison c = compare(*dump, *open(bytes));
  EXPECT_EQ(c.verdict, Verdict::relabelled) << c.words;
  ASSERT_EQ(c.cells[0].only_a.size(), 1U);
  EXPECT_EQ(c.cells[0].only_a[0].position, 5);
}

TEST(Compare, PositionsOffByOne) {
  const auto dump = open(simple);
  ByteVector bytes = bytes_of(*dump);
  for (const MapRange& range : map_of(*dump, true))
    if (range.label.size() > 4 && range.label.compare(range.label.size() - 4, 4, ".pos") == 0)
      test::poke(bytes, range.offset, test::peek<std::int32_t>(bytes, range.offset) + 1);
  expect_verdict(*dump, *open(bytes), Verdict::shifted_positions);
}

TEST(Compare, PositionsOffByOneInAWindowModel) {
  const auto dump = open("server/b0.7.0/gemma3.ggsq");
  ByteVector bytes = bytes_of(*dump);
  for (const MapRange& range : map_of(*dump, true))
    if (range.label.starts_with("memory") && range.label.ends_with(".pos"))
      test::poke(bytes, range.offset, test::peek<std::int32_t>(bytes, range.offset) + 1);
  expect_verdict(*dump, *open(bytes), Verdict::shifted_positions);
}

TEST(Compare, AFileThatChangedWhileItWasReadGivesNoVerdict) {
  auto changed = *open(multi);
  changed.source = std::make_shared<test::ChangedSource>(changed.source);
  EXPECT_THROW(static_cast<void>(compare(changed, *open(multi))), Error);
  EXPECT_THROW(static_cast<void>(compare(*open(multi), changed)), Error);
}

TEST(Compare, NotANumberIsNeverHidden) {
  const auto dump = open(multi);
  ByteVector bytes = bytes_of(*dump);
  test::poke<std::uint16_t>(bytes, range_of(*dump, tensor(1, "v")).offset, 0x7e00);
  const Comparison c = compare(*dump, *open(bytes));
  EXPECT_FALSE(c.same());
  EXPECT_EQ(c.verdict, Verdict::one_layer_wrong) << c.words;
  EXPECT_EQ(c.tensors[3].not_finite, 1U);
}

// In a tensor that differs elsewhere: what is in no figure is told.
TEST(Compare, NotANumberInBothIsCounted) {
  const auto dump = open(multi);
  ByteVector bytes = bytes_of(*dump);
  const MapRange v = range_of(*dump, tensor(1, "v"));
  for (const std::uint64_t place : {4U, 34U}) test::poke<std::uint16_t>(bytes, v.offset + place, 0x7e00);
  const auto odd = open(bytes);
  EXPECT_EQ(compare(*dump, *odd).tensors[3].not_finite, 2U);
  test::poke<std::uint16_t>(bytes, v.offset, 0);
  const Comparison c = compare(*odd, *open(bytes));
  EXPECT_EQ(c.tensors[3].not_finite, 0U);
  EXPECT_EQ(c.tensors[3].not_finite_in_both, 2U);
  EXPECT_EQ(c.tensors[3].over_tolerance, 1U);
}

// --- the order inside of K rows

// Each head's first numbers put behind the others, in all K.
ByteVector with_turned_heads(const Dump& dump, std::size_t width, std::size_t first, int layers) {
  ByteVector bytes = bytes_of(dump);
  for (int l = 0; l < layers; ++l) {
    const MapRange k = range_of(dump, tensor(l, "k"));
    for (std::uint64_t at = k.offset; at < k.offset + k.size; at += width * 2) {
      const auto head = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      std::rotate(head, head + static_cast<std::ptrdiff_t>(first * 2),
                  head + static_cast<std::ptrdiff_t>(width * 2));
    }
  }
  return bytes;
}

// llama.rn 0.6.7 is of the months in which the rope part came first.
const std::string rope_first = "modern/rn-0.6.7/ds2mha.seq0.ggsq";

TEST(Compare, RowsInTheOtherOrderAreSaidSo) {
  const auto dump = open(rope_first);
  for (const std::size_t first : {8U, 20U, 32U, 48U}) {
    const Comparison c = compare(*dump, *open(with_turned_heads(*dump, 64, first, 2)));
    EXPECT_EQ(c.verdict, Verdict::row_order) << c.words;
    const std::string words = "heads of 64 numbers, " + std::to_string(first) + " + " +
                              std::to_string(64 - first) + " in one";
    EXPECT_NE(c.words.find(words), std::string::npos) << c.words;
    EXPECT_FALSE(c.same());
  }
}

TEST(Compare, RowsInTheOtherOrderInOneLayerOnlyWithAnotherThatIsWrong) {
  const auto dump = open(rope_first);
  ByteVector bytes = with_turned_heads(*dump, 64, 32, 1);
  EXPECT_EQ(compare(*dump, *open(bytes)).verdict, Verdict::row_order);
  const MapRange k = range_of(*dump, tensor(1, "k"));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(k.offset), k.size, std::byte{0});
  EXPECT_NE(compare(*dump, *open(bytes)).verdict, Verdict::row_order);
}

// V does not know this order: where it differs too, something else is wrong.
TEST(Compare, RowsInTheOtherOrderDoNotExplainOtherValues) {
  const auto dump = open(rope_first);
  ByteVector bytes = with_turned_heads(*dump, 64, 32, 2);
  const MapRange v = range_of(*dump, tensor(0, "v"));
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(v.offset), v.size, std::byte{0});
  EXPECT_NE(compare(*dump, *open(bytes)).verdict, Verdict::row_order);
}

TEST(Compare, RowsInTheOtherOrderOfTheSamePromptByTwoBuilds) {
  const char* folder = std::getenv("KVTOOL_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "KVTOOL_CORPUS names no folder";
  const auto of_build = [&](const std::string& build) {
    return open_dump(std::string(folder) + "/modern/dumps/" + build + "/ds2mha.seq0.ggsq");
  };
  const Dump old = of_build("rn-0.6.7");
  for (const char* build : {"b4748", "b9254", "b11118", "rn-0.11.0"}) {
    const Comparison c = compare(old, of_build(build));
    EXPECT_EQ(c.verdict, Verdict::row_order) << build << ": " << c.words;
    EXPECT_NE(c.words.find("heads of 64 numbers, 32 + 32"), std::string::npos) << c.words;
  }
}

TEST(Compare, ToleranceMakesSmallDifferencesSame) {
  const auto f32 = open("modern/b11118/llama-fa-f32.ggsn");
  const auto bf16 = open("modern/b11118/llama-fa-bf16.ggsn");
  CompareOptions options;
  EXPECT_FALSE(compare(*f32, *bf16, options).same());
  options.absolute = 0.2;
  EXPECT_TRUE(compare(*f32, *bf16, options).same());
}

// --- what is around the memories

TEST(Compare, ACheckpointThatDiffersIsNotTheSameContent) {
  for (const char* path : {"server/b0.7.0/gemma3.ggsq", "server/b0.7.0/mamba.ggsq"}) {
    const auto dump = open(path);
    ByteVector bytes = bytes_of(*dump);
    for (const MapRange& range : map_of(*dump, true))
      if (range.label.starts_with("tail.checkpoint[0]") && range.label.ends_with("_data"))
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(range.offset), range.size, std::byte{0});
    const Comparison c = compare(*dump, *open(bytes));
    EXPECT_EQ(c.verdict, Verdict::different_parts) << c.words;
    ASSERT_EQ(c.parts.size(), 1U);
    EXPECT_EQ(c.parts[0].part, "checkpoint[0]");
    EXPECT_FALSE(c.same());
  }
}

TEST(Compare, ACheckpointInAnotherOrderIsTheSame) {
  const auto dump = open("server/b0.7.0/gemma3.ggsq");
  const auto moved = written(swap(dump, {0, 0, 1}, {0, 0, 20}));
  const Comparison c = compare(*dump, *moved);
  EXPECT_EQ(c.verdict, Verdict::same_content) << c.words;
  ASSERT_EQ(c.parts.size(), 1U);
  EXPECT_TRUE(c.parts[0].same());
}

TEST(Compare, ACheckpointThatOneLacksIsSaidAndNoMore) {
  const Comparison c = compare(*open("server/b0.7.0/gemma3.ggsq"),
                               *open("server/b0.7.0/gemma3-no-checkpoints.ggsq"));
  EXPECT_EQ(c.verdict, Verdict::same_content) << c.words;
  ASSERT_EQ(c.header.size(), 1U);
  EXPECT_EQ(c.header[0].field, "checkpoints");
  EXPECT_EQ(c.header[0].b, "none");
}

TEST(Compare, OtherLogitsAreNotTheSameContent) {
  const auto dump = open("history/v9-20250220-c392e5094-frag.ggsn");
  ASSERT_GT(dump->outputs.logits.size, 0U);
  ByteVector bytes = bytes_of(*dump);
  test::poke<float>(bytes, dump->outputs.logits.offset, 99.0F);
  const Comparison c = compare(*dump, *open(bytes));
  EXPECT_EQ(c.verdict, Verdict::different_parts) << c.words;
}

TEST(Compare, AnotherConversation) {
  const auto a = open("server/b0.7.0/llama-f16.ggsq");
  const auto other = open("server/b0.7.0/chat-turn1.ggsq");
  const Comparison c = compare(*a, *other);
  EXPECT_EQ(c.verdict, Verdict::different_conversations) << c.words;
}

// A chat a turn later: what both hold is the same, the later one has more.
TEST(Compare, ALaterTurnHasMoreCells) {
  const Comparison c = compare(*open("server/b0.7.0/grow-turn1.ggsq"),
                               *open("server/b0.7.0/grow-turn2.ggsq"));
  EXPECT_EQ(c.verdict, Verdict::different_cells) << c.words;
  EXPECT_EQ(c.tokens.common_prefix, 28U);
  EXPECT_EQ(c.cells[0].only_a_count, 0U);
  EXPECT_EQ(c.cells[0].only_b_count, 18U);
}

TEST(Compare, OtherModelsAreNotComparable) {
  expect_verdict(*open(multi), *open("modern/b11118/gemma3-swa.ggsn"), Verdict::not_comparable);
  expect_verdict(*open(multi), *open("modern/b11118/mamba-multi.ggsn"), Verdict::not_comparable);
}

// The figures are those of the arithmetic: one value moved by a known amount.
TEST(Compare, FiguresOfOneChangedValue) {
  const auto dump = open("modern/b11118/llama-fa-f32.ggsn");
  ByteVector bytes = bytes_of(*dump);
  const MapRange k = range_of(*dump, tensor(0, "k"));
  const float before = test::peek<float>(bytes, k.offset);
  test::poke<float>(bytes, k.offset, before + 0.5F);
  const Comparison c = compare(*dump, *open(bytes));
  const TensorComparison& t = c.tensors[0];
  EXPECT_NEAR(t.max_abs, 0.5, 1e-6);
  EXPECT_EQ(t.over_tolerance, 1U);
  EXPECT_EQ(t.equal_cells, t.cells - 1);
  EXPECT_NEAR(t.rms, 0.5 / std::sqrt(static_cast<double>(t.values)), 1e-6);
}

// Where both are rotated, figures are those of the numbers before that: a level that is one off is
// spread over its block of 64.
TEST(Compare, FiguresOfRotatedRowsAreOfTheModelsOwnNumbers) {
  const auto dump = open("server/b0.7.0-library/llamah64-q8_0-unified.seq2.ggsq");
  ASSERT_EQ(dump->state.memories[0].streams[0].rot_k, 64U);
  ByteVector bytes = bytes_of(*dump);
  const MapRange k = range_of(*dump, tensor(0, "k"));
  const float scale = float_of_half(test::peek<std::uint16_t>(bytes, k.offset));
  const auto level = test::peek<std::int8_t>(bytes, k.offset + 7);
  test::poke<std::int8_t>(bytes, k.offset + 7, static_cast<std::int8_t>(level > 0 ? level - 1 : level + 1));
  const TensorComparison t = compare(*dump, *open(bytes)).tensors[0];
  EXPECT_EQ(t.over_tolerance, 1U);
  EXPECT_NEAR(t.max_abs, double{scale} / 8, 1e-3 * double{scale});
  EXPECT_NEAR(t.rms * std::sqrt(static_cast<double>(t.values)), double{scale}, 1e-3 * double{scale});
}

// Sums of floating point numbers depend on their order, which must not depend on threads.
void expect_same_on_threads(const Dump& a, const Dump& b) {
  CompareOptions options;
  options.per_position = true;
  const Comparison one = compare(a, b, options);
  options.threads = 4;
  const Comparison four = compare(a, b, options);
  ASSERT_EQ(one.tensors.size(), four.tensors.size());
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    EXPECT_EQ(one.tensors[i].rms, four.tensors[i].rms);
    EXPECT_EQ(one.tensors[i].layer, four.tensors[i].layer);
  }
  ASSERT_EQ(one.by_position.size(), four.by_position.size());
  for (std::size_t i = 0; i < one.by_position.size(); ++i) {
    EXPECT_GT(one.by_position[i].relative_l2, 0);
    EXPECT_EQ(one.by_position[i].relative_l2, four.by_position[i].relative_l2);
  }
}

TEST(Compare, FiguresAreTheSameOnAnyNumberOfThreads) {
  expect_same_on_threads(*open("modern/b11118/llama-fa-f32.ggsn"),
                         *open("modern/b11118/llama-fa-q8_0.ggsn"));
  expect_same_on_threads(*open("trained/pair-exact-48.ggsq"),
                         *open("trained/pair-othercpu-48.ggsq"));
}

TEST(Compare, OnlyTheChosenPositionsAndLayers) {
  const auto dump = open(simple);
  CompareOptions options;
  options.position_begin = 2;
  options.position_end = 7;
  options.layers = std::pair{1U, 2U};
  const auto tidy = written(swap(dump, {0, 0, 0}, {0, 0, 4}));
  const Comparison c = compare(*dump, *tidy, options);
  EXPECT_EQ(c.cells[0].matched, 5U);
  ASSERT_EQ(c.tensors.size(), 2U);
  EXPECT_EQ(c.tensors[0].layer, 1U);
}

}  // namespace
}  // namespace kvtool
