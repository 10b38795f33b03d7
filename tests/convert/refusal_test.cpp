// What a conversion must not do silently: each refusal with its reason, and what makes it possible.
#include <gtest/gtest.h>

#include "convert/converted.h"
#include "kvtool/error.h"
#include "support/made_dump.h"

namespace kvtool::test {
namespace {

const std::string b11118 = "modern/b11118/";

Target of_container(Container container) {
  Target target;
  target.container = container;
  return target;
}

void expect_refusal(const DumpPointer& dump, const Target& target, const ConvertOptions& options,
                    const std::string& reason) {
  try {
    (void)convert(dump, target, options);
    ADD_FAILURE() << "not refused: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::refused);
    EXPECT_NE(error.message().find(reason), std::string::npos) << error.message();
  }
}

TEST(ConvertRefusal, QuantizedTransposedV) {
  Target target = of_types(ElementType::q8_0, ElementType::q8_0);
  target.flash_attention = false;
  target.rotation_disabled = true;
  expect_refusal(opened(b11118 + "llama-simple.ggsn"), target, {},
                 "V of type q8_0 cannot be stored transposed");
  target.type_v = ElementType::bf16;
  EXPECT_NO_THROW((void)convert(opened(b11118 + "llama-simple.ggsn"), target));
}

TEST(ConvertRefusal, TransposedVWhoseTypeChanges) {
  Target target;
  target.type_v = ElementType::q4_0;
  expect_refusal(opened(b11118 + "llama-nofa-f16.ggsn"), target, {}, "cannot be stored transposed");
}

TEST(ConvertRefusal, WidthThatIsNoMultipleOfTheBlock) {
  Shape shape;
  shape.width = 48;
  Target target;
  target.type_k = ElementType::q8_0;
  expect_refusal(made_dump(shape), target, {}, "48");
  shape.width = 64;
  target.rotation_disabled = true;
  EXPECT_NO_THROW((void)convert(made_dump(shape), target));
}

TEST(ConvertRefusal, UnknownRotation) {
  const auto dump = opened(b11118 + "llamah64-fa-q8_0.seq0.ggsq");
  const std::string reason = "say --written-by BUILD-OR-DATE, or --rotation none or hadamard";
  expect_refusal(dump, of_types(ElementType::f16, ElementType::f16), {}, reason);
  expect_refusal(dump, of_loader("0.7.0"), {}, reason);
  expect_refusal(dump, of_loader("b10256"), {}, reason);
  expect_refusal(dump, of_loader("9/2-mla"), {}, reason);
}

TEST(ConvertRefusal, UnknownHeads) {
  const std::string reason = "depends on the head size; say --model MODEL.gguf or --like REF";
  const auto f16 = opened(b11118 + "llamah64-fa-f16.seq0.ggsq");
  expect_refusal(f16, of_types(ElementType::q8_0, ElementType::q8_0), {}, reason);
  ConvertOptions stated;
  stated.rotation = StatedRotation::hadamard;
  const auto q8_0 = opened(b11118 + "llamah64-fa-q8_0.seq0.ggsq");
  expect_refusal(q8_0, of_types(ElementType::f16, ElementType::f16), stated, reason);
}

// A file of before April 2026 is known to be plain, and a newer loader would read it as rotated.
TEST(ConvertRefusal, PlainRowsOfAnOldFileForALoaderThatRotates) {
  const auto old = opened("server/b4748/llamah64-q8_0-fa.ggsq");
  expect_refusal(old, of_loader("v0.4.0"), {}, "depends on the head size");
  Target heads = of_loader("v0.4.0");
  heads.model = shape_of_dump(*old);
  for (CacheShape& cache : heads.model->caches) cache.head_k = cache.head_v = 64;
  EXPECT_NO_THROW((void)convert(old, heads));
  Target disabled = of_loader("v0.4.0");
  disabled.rotation_disabled = true;
  EXPECT_NO_THROW((void)convert(old, disabled));
}

TEST(ConvertRefusal, AnotherModel) {
  const auto llama = opened(b11118 + "llama-simple.ggsn");
  const std::string reason = "it is of another model than the target: ";
  expect_refusal(llama, target_like(*opened(b11118 + "gemma3-swa.ggsn")), {},
                 reason + "it is of a llama model, the target's is gemma3");
  Target wider = target_like(*llama);
  wider.model->caches[0].layers[1].k_width *= 2;
  expect_refusal(llama, wider, {}, reason + "memory 0: K of layer 1 has 128 bytes a row");
  expect_refusal(opened("server/b0.7.0/qwen4exp.ggsq"),
                 target_like(*opened(b11118 + "hybrididx-qwen4exp.ggsn")), {}, reason);
}

TEST(ConvertRefusal, SeveralSequences) {
  const auto session = opened(b11118 + "llama-multi-uni.ggsn");
  expect_refusal(session, of_container(Container::slot), {}, "say --seq ID");
  ConvertOptions options;
  options.sequence = 7;
  expect_refusal(session, of_container(Container::slot), options, "no cell belongs to sequence 7");
}

TEST(ConvertRefusal, SequenceWithoutAStream) {
  Target two;
  two.n_stream = 2;
  expect_refusal(opened(b11118 + "llama-multi-uni.ggsn"), two, {},
                 "sequence 2 has no stream in a target of 2");
}

TEST(ConvertRefusal, CheckpointsForALoaderWithout) {
  const auto dump = opened("server/b0.7.0/gemma3.ggsq");
  expect_refusal(dump, of_loader("v0.4.0"), {}, "--drop checkpoints");
  ConvertOptions options;
  options.drop = {"checkpoints"};
  const Conversion c = convert(dump, of_loader("v0.4.0"), options);
  EXPECT_FALSE(c.plan.target.tail.has_checkpoints);
  ASSERT_EQ(c.costs.size(), 2U);
  EXPECT_NE(c.costs[1].find("computes the whole prompt again"), std::string::npos);
}

TEST(ConvertRefusal, DraftStateForALoaderWithout) {
  const auto dump = opened("server/b0.7.0/llama-draft.ggsq");
  expect_refusal(dump, of_loader("v0.4.0"), {}, "--drop draft");
}

TEST(ConvertRefusal, OutputsForALoaderWithout) {
  const auto dump = opened("modern/rn-0.6.7/llama-embd.ggsn");
  expect_refusal(dump, of_loader("v0.4.0"), {}, "--drop outputs");
}

TEST(ConvertRefusal, MissingArchitecture) {
  expect_refusal(opened(b11118 + "llama-simple.seq0.ggsq"), of_container(Container::session), {},
                 "a session names its architecture and this file does not");
}

TEST(ConvertRefusal, MissingGeneratorText) {
  const auto v9 = opened("history/v9-20250220-c392e5094-frag.ggsn");
  expect_refusal(v9, of_loader("8/2"), {}, "text of the random generator");
  ConvertOptions options;
  options.like = v9;  // has none either
  expect_refusal(v9, of_loader("8/2"), options, "say --seed N, or --like REF with a session of that version");
  options.like = opened("history/v8-20240728-4c676c85e-emb-plain.ggsn");
  EXPECT_NO_THROW((void)convert(v9, of_loader("8/2"), options));
  options.strip = {"rng"};
  expect_refusal(v9, of_loader("8/2"), options, "cannot do without the text");
  options = {};
  options.seed = 1;
  EXPECT_NO_THROW((void)convert(v9, of_loader("8/2"), options));
}

// A time tells about rotation as far as it can have written the file.
TEST(ConvertRefusal, TimeThatDidNotWriteTheFile) {
  ConvertOptions options;
  options.written = era_of_loader("b4748");
  try {
    (void)convert(opened(b11118 + "llamah64-fa-q8_0.seq0.ggsq"), {}, options);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("llama.cpp of 9/2-flat did not write"), std::string::npos)
        << error.message();
  }
}

TEST(ConvertRefusal, Media) {
  const auto dump = opened(b11118 + "qwen2vl-slot-image.slot0.ggsq");
  ConvertOptions options;
  options.tokens = TokenFormChoice::plain;
  expect_refusal(dump, {}, options, "--drop media");
  options.drop = {"media"};
  EXPECT_EQ(converted(dump, {}, options)->tokens.form, TokenForm::plain);
}

TEST(ConvertRefusal, PayloadForALoaderWithout) {
  ConvertOptions options;
  options.tokens = TokenFormChoice::payload;
  expect_refusal(opened(b11118 + "llama-simple.seq0.ggsq"), of_loader("b10256"), options,
                 "does not know the token payload");
}

TEST(ConvertRefusal, MlaWithoutVForALoaderThatStoresIt) {
  Target target = of_loader("9/2-streams");
  target.model = shape_of_model(
      open_gguf(open_source(testdata("models/deepseek2-mla.gguf").string())), *target.era);
  expect_refusal(opened("modern/rn-0.11.0/ds2mla.seq0.ggsq"), target, {}, "that of this file none");
}

TEST(ConvertRefusal, EmptyCachesForOldLoaders) {
  const auto empty = opened("server/b0.7.0/erased-llama.ggsq");
  expect_refusal(empty, of_loader("b4748"), {}, "has no cells");
  EXPECT_NO_THROW((void)convert(empty, of_loader("b10256")));
}

}  // namespace
}  // namespace kvtool::test
