// What a conversion keeps, byte for byte, and what it makes, against llama.cpp's own files.
#include <gtest/gtest.h>

#include <cmath>

#include "convert/converted.h"
#include "kvtool/compare.h"
#include "kvtool/error.h"
#include "kvtool/map.h"
#include "support/payload.h"

namespace kvtool::test {
namespace {

const std::string b11118 = "modern/b11118/";
const std::string b070 = "server/b0.7.0/";

Target of_flash_attention(bool on) {
  Target target;
  target.flash_attention = on;
  return target;
}

Target of_streams(std::uint32_t n) {
  Target target;
  target.n_stream = n;
  return target;
}

// --- orientation

class RowsToColumnsAndBack : public testing::TestWithParam<const char*> {};

TEST_P(RowsToColumnsAndBack, IsByteIdentical) {
  const auto dump = opened(GetParam());
  const bool rows = target_like(*dump).flash_attention.value();
  const auto turned = converted(dump, of_flash_attention(!rows));
  EXPECT_EQ(target_like(*turned).flash_attention, !rows);
  EXPECT_NE(bytes_of(*turned), bytes_of(*dump));
  EXPECT_EQ(converted_bytes(turned, of_flash_attention(rows)), bytes_of(*dump));
}

INSTANTIATE_TEST_SUITE_P(
    Files, RowsToColumnsAndBack,
    testing::Values("modern/b11118/llama-simple.ggsn", "modern/b11118/llama-nofa-f16.ggsn",
                    "modern/b11118/llama-fa-f32.ggsn", "modern/b11118/llama-nofa-bf16.ggsn",
                    "modern/b11118/llama-multi-streams.ggsn", "modern/b11118/gemma3-nofa.ggsn",
                    "modern/b11118/qwen2vl-image.seq0.ggsq", "modern/b11118/jamba.ggsn",
                    "modern/b4748/llama-nofa-f16.seq0.ggsq", "server/b0.7.0/gemma3.ggsq",
                    "server/b0.7.0/llama-draft.ggsq", "server/b0.7.0-sessions/lfm2-f16.ggsn"));

// --- versions

TEST(ConvertVersion, UpAndDownAgainIsByteIdentical) {
  for (const char* file : {"modern/b10256/lfm2.seq0.ggsq", "modern/rn-0.11.0/ds2mla.seq0.ggsq",
                           "modern/rn-0.6.7/llama-nofa-f16.seq0.ggsq"}) {
    const auto dump = opened(file);
    auto step = dump;
    for (const char* loader : {"v0.4.0", "0.7.0", "v0.4.0"}) step = converted(step, of_loader(loader));
    EXPECT_EQ(converted_bytes(step, of_loader("9/2-window-cut")), bytes_of(*dump)) << file;
  }
}

TEST(ConvertVersion, EachStepHasItsVersion) {
  const auto v2 = opened("modern/b10256/lfm2.seq0.ggsq");
  const auto v3 = converted(v2, of_loader("v0.4.0"));
  const auto v4 = converted(v3, of_loader("0.7.0"));
  EXPECT_EQ(v3->dialect.version, 3U);
  EXPECT_EQ(v4->dialect.version, 4U);
  EXPECT_TRUE(v4->dialect.rotation);
  EXPECT_EQ(bytes_of(*v4).size(), bytes_of(*v3).size() + 8);  // two words of one attention cache
}

TEST(ConvertVersion, SessionsToo) {
  const auto v9 = opened("modern/rn-0.11.5/gemma3-swa.ggsn");
  const auto v10 = converted(v9, of_loader("v0.4.0"));
  const auto v11 = converted(v10, of_loader("0.7.0"));
  EXPECT_EQ(v11->dialect.version, 11U);
  EXPECT_EQ(converted_bytes(converted(v11, of_loader("v0.4.0")), of_loader("9/2-no-outputs")),
            bytes_of(*v9));
}

// Cells of M-RoPE models: 8 bytes, then 12, then 8 again.
TEST(ConvertVersion, ExtensionGrowsAndShrinks) {
  const auto xy = opened("modern/b9254/qwen2vl-image.ggsn");
  const Conversion up = convert(xy, of_loader("v0.4.0"));
  ASSERT_EQ(up.costs.size(), 1U);
  EXPECT_NE(up.costs[0].find("carry the token -1"), std::string::npos);
  const auto xyt = opened(rewritten(up.plan));
  EXPECT_EQ(xyt->dialect.extension, CellExtension::xy_token);
  EXPECT_EQ(xyt->state.memories[0].streams[0].cells.extra(8).x, 8);  // column in the image
  EXPECT_EQ(converted_bytes(xyt, of_loader("b9254")), bytes_of(*xy));
}

// The generator's text of an old session comes back from any session of that version.
TEST(ConvertVersion, GeneratorTextFromAnotherSession) {
  const auto v8 = opened("history/v8-20240728-4c676c85e-openelm-fa-plain.ggsn");
  const auto v9 = converted(v8, of_loader("9/2-flat"));
  EXPECT_EQ(v9->rng.size, 0U);
  ConvertOptions options;
  options.like = v8;
  EXPECT_EQ(converted_bytes(v9, of_loader("8/2"), options), bytes_of(*v8));
  ByteVector other = bytes_of(*v8);
  const auto digit = static_cast<std::size_t>(v8->rng.offset);
  other[digit] = other[digit] == std::byte{'1'} ? std::byte{'2'} : std::byte{'1'};
  options.like = opened(other);
  const Conversion conversion = convert(v9, of_loader("8/2"), options);
  ASSERT_EQ(conversion.costs.size(), 1U);
  EXPECT_NE(conversion.costs[0].find("that of the reference"), std::string::npos);
  EXPECT_EQ(rewritten(conversion.plan), other);
}

// --- streams

// The same run, saved by llama.cpp both ways. One cell that several sequences share becomes one in
// each of their streams; back in one stream the copies stay (defrag --share would fold them).
TEST(ConvertStreams, StreamsAreThoseOfLlamaCpp) {
  const auto unified = opened(b11118 + "llama-multi-uni.ggsn");
  const auto streams = opened(b11118 + "llama-multi-streams.ggsn");
  EXPECT_EQ(converted_bytes(unified, target_like(*streams)), bytes_of(*streams));
  const auto back = converted(streams, target_like(*unified));
  EXPECT_EQ(compare(*unified, *back).verdict, Verdict::same_content);
  EXPECT_EQ(back->state.memories[0].streams[0].cells.size(), 46U);
  EXPECT_EQ(converted_bytes(back, target_like(*streams)), bytes_of(*streams));
}

TEST(ConvertStreams, SlotsGetAndLoseEmptyStreams) {
  const auto three = opened(b11118 + "llama-multi-streams.seq1.ggsq");
  const auto one = converted(three, of_streams(1));
  EXPECT_EQ(one->state.memories[0].streams.size(), 1U);
  EXPECT_EQ(bytes_of(*one).size(), bytes_of(*three).size() - 8);  // two empty streams: a zero each
  EXPECT_EQ(converted_bytes(one, of_streams(3)), bytes_of(*three));
}

// A stream belongs to a sequence, so another id has to move the cells.
TEST(ConvertStreams, AnotherIdTakesAnotherStream) {
  ConvertOptions options;
  options.sequence = 2;
  const auto moved =
      converted(opened(b11118 + "llama-multi-streams.seq1.ggsq"), of_streams(3), options);
  const auto& streams = moved->state.memories[0].streams;
  EXPECT_TRUE(streams[1].cells.empty());
  ASSERT_EQ(streams[2].cells.size(), 19U);
  EXPECT_EQ(streams[2].cells.sequences(0)[0], 2);
}

// --- kinds

// Everything but the tokens: a session names those of all sequences, a slot its own.
void expect_same_but_tokens(const Dump& a, const Dump& b) {
  auto behind_tokens = [](const Dump& dump) {
    const ByteVector bytes = bytes_of(dump);
    const std::size_t words = peek<std::uint32_t>(bytes, 8);
    return ByteVector(bytes.begin() + static_cast<std::ptrdiff_t>(12 + 4 * words), bytes.end());
  };
  EXPECT_EQ(behind_tokens(a), behind_tokens(b));
}

TEST(ConvertKind, SessionToSlotIsTheSlotOfLlamaCpp) {
  const std::string library = "server/b0.7.0-library/";
  for (const auto& [session, slot, id] : std::vector<std::tuple<std::string, std::string, int>>{
           {b11118 + "llama-multi-streams.ggsn", b11118 + "llama-multi-streams.seq1.ggsq", 1},
           {b11118 + "qwen2vl-image.ggsn", b11118 + "qwen2vl-image.seq0.ggsq", 0},
           {b11118 + "llama-simple.ggsn", b11118 + "llama-simple.seq0.ggsq", 0},
           {b11118 + "lfm2.ggsn", b11118 + "lfm2.seq0.ggsq", 0},
           {b11118 + "dsa-deepseek32.ggsn", b11118 + "dsa-deepseek32.seq0.ggsq", 0},
           {library + "deepseek2-mla-multi-unified.ggsn",
            library + "deepseek2-mla-multi-unified.seq2.ggsq", 2},
           {library + "deepseek32-multi-unified.ggsn", library + "deepseek32-multi-unified.seq2.ggsq", 2},
           {library + "minimax-m3-multi-unified.ggsn", library + "minimax-m3-multi-unified.seq2.ggsq", 2},
           {library + "lfm2-swa-multi-streams.ggsn", library + "lfm2-swa-multi-streams.seq2.ggsq", 2}}) {
    SCOPED_TRACE(slot);
    ConvertOptions options;
    options.sequence = id;
    Target target;
    target.container = Container::slot;
    expect_same_but_tokens(*converted(opened(session), target, options), *opened(slot));
  }
}

TEST(ConvertKind, SlotToSessionAndBackIsByteIdentical) {
  const auto slot = opened(b11118 + "llama-simple.seq0.ggsq");
  Target session = target_like(*opened(b11118 + "llama-simple.ggsn"));
  const auto made = converted(slot, session);
  EXPECT_EQ(made->arch, "llama");
  EXPECT_EQ(bytes_of(*made), bytes_of(*opened(b11118 + "llama-simple.ggsn")));
  Target back;
  back.container = Container::slot;
  EXPECT_EQ(converted_bytes(made, back), bytes_of(*slot));
}

// --- types

// The first layer has not seen a quantized cache yet, so llama.cpp stored the same numbers there.
class FirstLayer : public testing::TestWithParam<const char*> {};

ByteVector data_of(const Dump& dump, const std::string& part) {
  const ByteVector bytes = bytes_of(dump);
  for (const MapRange& range : map_of(dump))
    if (range.label == "memory[0].stream[0].layer[0]." + part + "_data")
      return {bytes.begin() + static_cast<std::ptrdiff_t>(range.offset),
              bytes.begin() + static_cast<std::ptrdiff_t>(range.offset + range.size)};
  throw std::runtime_error("no " + part);
}

TEST_P(FirstLayer, IsThatOfLlamaCpp) {
  const ElementType type = type_named(GetParam());
  const auto native = opened(b11118 + "llama-fa-" + GetParam() + ".ggsn");
  // Heads of 32 are never rotated, but the width alone does not tell that.
  Target target = of_types(type, type);
  target.rotation_disabled = true;
  const auto made = converted(opened(b11118 + "llama-fa-f32.ggsn"), target);
  EXPECT_EQ(data_of(*made, "k"), data_of(*native, "k"));
  EXPECT_EQ(data_of(*made, "v"), data_of(*native, "v"));
  EXPECT_EQ(bytes_of(*made).size(), bytes_of(*native).size());
}

INSTANTIATE_TEST_SUITE_P(Types, FirstLayer,
                         testing::Values("f32", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "iq4_nl"));

TEST(ConvertTypes, LossesAreReportedLayerByLayer) {
  Target target = of_types(ElementType::q8_0, ElementType::f32);
  target.rotation_disabled = true;
  const Conversion c = convert(opened(b11118 + "llama-simple.ggsn"), target);
  std::vector<TensorLoss> losses;
  MemorySink sink;
  write_plan(c.plan, sink, &losses);
  ASSERT_EQ(losses.size(), 4U);  // K and V of two layers
  for (const TensorLoss& loss : losses) {
    const bool k = loss.tensor.find(".k_data") != std::string::npos;
    EXPECT_EQ(loss.relative_l2 > 0, k) << loss.tensor;  // f16 to f32 loses nothing
    EXPECT_LT(loss.relative_l2, 0.01) << loss.tensor;
    EXPECT_EQ(loss.values, 24U * 64U);
  }
}

TEST(ConvertTypes, OnlyKOrOnlyV) {
  Target target;
  target.type_v = ElementType::q4_0;
  target.rotation_disabled = true;
  const auto made = converted(opened(b11118 + "llama-simple.ggsn"), target);
  const Layer& layer = made->state.memories[0].streams[0].layers[0];
  EXPECT_EQ(layer.k.type, ElementType::f16);
  EXPECT_EQ(layer.v.type, ElementType::q4_0);
}

// --- rotation

const std::string h64_f16 = b11118 + "llamah64-fa-f16.seq0.ggsq";
const std::string h64_rotated = b11118 + "llamah64-fa-q8_0.seq0.ggsq";
const std::string h64_plain = b11118 + "llamah64-fa-q8_0-norot.seq0.ggsq";

double furthest(const Dump& a, const Dump& b) {
  double most = 0;
  for (const TensorComparison& t : compare(a, b).tensors) most = std::max(most, t.relative_l2);
  return most;
}

// A target of head size 64, by its model.
Target of_h64(ElementType type) {
  Target target = of_types(type, type);
  target.model =
      shape_of_model(open_gguf(open_source(testdata("models/llama-h64.gguf").string())), eras().back());
  return target;
}

DumpPointer with_rotation(const std::string& file, const Target& target, StatedRotation stated) {
  ConvertOptions options;
  options.rotation = stated;
  return converted(opened(file), target, options);
}

TEST(ConvertRotation, TheRightFlagAgreesWithTheUnrotatedFile) {
  const Target f16 = of_h64(ElementType::f16);
  const auto native = opened(h64_f16);
  EXPECT_LT(furthest(*native, *with_rotation(h64_rotated, f16, StatedRotation::hadamard)), 0.02);
  EXPECT_LT(furthest(*native, *with_rotation(h64_plain, f16, StatedRotation::none)), 0.02);
}

TEST(ConvertRotation, TheWrongFlagIsFarOff) {
  const Target f16 = of_h64(ElementType::f16);
  const auto native = opened(h64_f16);
  EXPECT_GT(furthest(*native, *with_rotation(h64_rotated, f16, StatedRotation::none)), 1.0);
  EXPECT_GT(furthest(*native, *with_rotation(h64_plain, f16, StatedRotation::hadamard)), 1.0);
}

// ik_llama.cpp rotates K and V, each when it is told to, and no byte of its files says so.
TEST(ConvertRotation, OfTheForkNeedsAWord) {
  const std::string rotated = "server/ik_llama/llamah64-q8_0-khad.ggsq";
  const Target f16 = of_h64(ElementType::f16);
  const auto plain = with_rotation("server/ik_llama/llamah64-q8_0.ggsq", f16, StatedRotation::none);
  const auto off = [&](StatedRotation stated) {
    return furthest(*plain, *with_rotation(rotated, f16, stated));
  };
  EXPECT_LT(off(StatedRotation::hadamard), 0.02);
  EXPECT_GT(off(StatedRotation::hadamard_k), 1.0);  // its V is rotated, too
  EXPECT_GT(off(StatedRotation::hadamard_v), 1.0);
  EXPECT_GT(off(StatedRotation::none), 1.0);
  EXPECT_THROW(with_rotation(rotated, f16, StatedRotation::unknown), Error);
}

// Heads of 32 are not rotated by anyone, so that the model alone is word enough.
TEST(ConvertRotation, OfHeadsThatNobodyRotatesNeedsNone) {
  Target target = of_types(ElementType::f16, ElementType::f16);
  const auto dump = opened("server/ik_llama/llama-q6_0.ggsq");
  EXPECT_THROW(converted(dump, target), Error);
  target.model =
      shape_of_model(open_gguf(open_source(testdata("models/llama.gguf").string())), eras().back());
  EXPECT_NO_THROW(converted(dump, target));
}

// One of the fork for the fork stays as it is: its options decide, and they are the user's.
TEST(ConvertRotation, StaysWithinTheFork) {
  Target target;
  target.era = loader_named("ik-9/3").era;
  const auto dump = opened("server/ik_llama/llamah64-q8_0-khad.ggsq");
  const auto older = converted(dump, target);
  const Tensor& k = older->state.memories[0].streams[0].layers[1].k;
  EXPECT_EQ(cell_payload(*older, older->state.memories[0].streams[0], k, 5),
            cell_payload(*dump, dump->state.memories[0].streams[0],
                         dump->state.memories[0].streams[0].layers[1].k, 5));
}

// The day or build that wrote a file says as much as a flag, and a flag says more.
TEST(ConvertRotation, TheTimeOfTheFileTellsToo) {
  const Target f16 = of_h64(ElementType::f16);
  const auto rotated = opened(h64_rotated);
  ConvertOptions options;
  options.written = loader_named("b11118").era;
  EXPECT_EQ(converted_bytes(rotated, f16, options),
            bytes_of(*with_rotation(h64_rotated, f16, StatedRotation::hadamard)));
  options.rotation = StatedRotation::none;
  EXPECT_EQ(converted_bytes(rotated, f16, options),
            bytes_of(*with_rotation(h64_rotated, f16, StatedRotation::none)));
}

// One layout, before and after 1 April 2026.
TEST(ConvertRotation, TheTimeDecidesWhereTheLayoutDoesNot) {
  const auto dump = opened("modern/b10256/llamah64-fa-q8_0.seq0.ggsq");
  ConvertOptions options;
  options.written = loader_named("b10256").era;
  const auto after = converted_bytes(dump, of_h64(ElementType::f16), options);
  options.written = loader_named("b8390").era;
  EXPECT_NE(converted_bytes(dump, of_h64(ElementType::f16), options), after);
}

TEST(ConvertRotation, QuantizingRotatesAsLlamaCppDoes) {
  const auto made = with_rotation(h64_f16, of_h64(ElementType::q8_0), StatedRotation::unknown);
  EXPECT_LT(furthest(*made, *opened(h64_rotated)), 0.02);
  EXPECT_GT(furthest(*made, *opened(h64_plain)), 1.0);
  Target plain = of_h64(ElementType::q8_0);
  plain.rotation_disabled = true;
  EXPECT_LT(furthest(*with_rotation(h64_f16, plain, StatedRotation::unknown), *opened(h64_plain)),
            0.02);
}

TEST(ConvertRotation, WordsSayWhatWasDone) {
  Target target = of_h64(ElementType::q8_0);
  target.era = era_of_loader("0.7.0");
  const auto made = with_rotation(h64_f16, target, StatedRotation::unknown);
  EXPECT_EQ(made->state.memories[0].streams[0].rot_k, 64U);
  EXPECT_EQ(made->state.memories[0].streams[0].rot_v, 64U);
  target.type_v = ElementType::f16;
  EXPECT_EQ(with_rotation(h64_f16, target, StatedRotation::unknown)
                ->state.memories[0].streams[0].rot_v, 0U);
}

// K of a head of 128 turns in blocks of 128, V in blocks of 64.
TEST(ConvertRotation, HeadsOf128) {
  const auto rotated = opened("trained/h128-q8_0-256.ggsq");
  const auto plain = opened("trained/h128-q8_0-plain-256.ggsq");
  Target target = target_like(*plain);
  target.type_k = target.type_v = ElementType::f32;
  for (CacheShape& cache : target.model->caches) cache.head_k = cache.head_v = 128;
  ConvertOptions options;
  options.rotation = StatedRotation::hadamard;
  const auto turned = converted(rotated, target, options);
  options.rotation = StatedRotation::none;
  EXPECT_LT(furthest(*converted(plain, target, options), *turned), 0.02);
  EXPECT_GT(furthest(*converted(rotated, target, options), *turned), 1.0);
}

// --- the tail

// Everything inside the checkpoints follows the target, so that a server takes them again.
TEST(ConvertTail, CheckpointsAreConvertedAlong) {
  const auto dump = opened(b070 + "gemma3.ggsq");
  Target target = of_types(ElementType::q8_0, ElementType::q8_0);
  target.rotation_disabled = true;
  const auto made = converted(dump, target);
  ASSERT_EQ(made->tail.checkpoints.size(), dump->tail.checkpoints.size());
  ASSERT_FALSE(made->tail.checkpoints.empty());
  const auto native = opened(b070 + "gemma3-q8_0.ggsq");
  ASSERT_EQ(native->tail.checkpoints.size(), made->tail.checkpoints.size());
  EXPECT_EQ(bytes_of(*made).size(), bytes_of(*native).size());
  for (const Checkpoint& checkpoint : made->tail.checkpoints) {
    ASSERT_TRUE(checkpoint.target.state);
    for (const Layer& layer : checkpoint.target.state->memories[0].streams[0].layers)
      EXPECT_EQ(layer.k.type, ElementType::q8_0);
  }
}

TEST(ConvertTail, CheckpointsTurnAndSplitWithTheFile) {
  const auto dump = opened(b070 + "gemma3.ggsq");
  Target target = of_flash_attention(false);
  target.n_stream = 3;
  const auto made = converted(dump, target);
  for (const Checkpoint& checkpoint : made->tail.checkpoints) {
    const Memory& window = checkpoint.target.state->memories[0];
    ASSERT_EQ(window.streams.size(), 3U);
    EXPECT_EQ(window.streams[0].v_transposed, 1U);
    EXPECT_EQ(window.streams[0].layers[0].v.orientation, Orientation::transposed);
  }
  Target back = of_flash_attention(true);
  back.n_stream = 1;
  EXPECT_EQ(converted_bytes(made, back), bytes_of(*dump));
}

TEST(ConvertTail, DraftStatesTurnButKeepTheirTypes) {
  const auto dump = opened(b070 + "llama-draft.ggsq");
  Target target = of_flash_attention(false);
  target.type_k = ElementType::f32;
  const auto made = converted(dump, target);
  ASSERT_TRUE(made->tail.draft.state);
  const Layer& layer = made->tail.draft.state->memories[0].streams[0].layers[0];
  EXPECT_EQ(layer.k.type, ElementType::f16);
  EXPECT_EQ(layer.v.orientation, Orientation::transposed);
}

// --- tokens and what may be left out

TEST(ConvertTokens, PayloadToPlainAndBack) {
  const auto dump = opened(b11118 + "llama-slot.slot0.ggsq");
  ConvertOptions options;
  options.tokens = TokenFormChoice::plain;
  const auto plain = converted(dump, {}, options);
  EXPECT_EQ(plain->tokens.form, TokenForm::plain);
  EXPECT_EQ(plain->tokens.ids, dump->tokens.ids);
  EXPECT_EQ(bytes_of(*plain), bytes_of(*opened(b11118 + "llama-simple.seq0.ggsq")));
  options.tokens = TokenFormChoice::payload;
  EXPECT_EQ(converted_bytes(plain, {}, options), bytes_of(*dump));
}

TEST(ConvertStrip, LeavesOutWhatIsNamed) {
  ConvertOptions options;
  options.strip = {"checkpoints"};
  const auto bare = converted(opened(b070 + "lfm2.ggsq"), {}, options);
  EXPECT_FALSE(bare->tail.has_checkpoints);
  EXPECT_TRUE(bare->tail.checkpoints.empty());
  options.strip = {"draft"};
  EXPECT_FALSE(converted(opened(b070 + "llama-draft.ggsq"), {}, options)->tail.has_draft);
  options.strip = {"embeddings"};
  const auto embd = opened("modern/rn-0.6.7/llama-embd.ggsn");
  ASSERT_GT(embd->outputs.embeddings.size, 0U);
  const auto without = converted(embd, {}, options);
  EXPECT_EQ(without->outputs.embeddings.size, 0U);
  EXPECT_EQ(without->outputs.logits.size, embd->outputs.logits.size);
}

}  // namespace
}  // namespace kvtool::test
