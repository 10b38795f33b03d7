// The shape that a model file promises against what llama.cpp saved for that very model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gguf/gguf_builder.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/target.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::GgufBuilder;
using test::testdata;

ModelShape promised(const std::string& model, const Era& era) {
  return shape_of_model(open_gguf(open_source(testdata(model).string())), era);
}

void expect_equal(const CacheShape& model, const CacheShape& dump, const std::string& what) {
  EXPECT_EQ(model.role, dump.role) << what;
  if (!dump.known) return;
  ASSERT_EQ(model.layers.size(), dump.layers.size()) << what;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    EXPECT_EQ(model.layers[l].k_width, dump.layers[l].k_width) << what << " layer " << l;
    EXPECT_EQ(model.layers[l].v_width, dump.layers[l].v_width) << what << " layer " << l;
  }
}

void expect_equal(const RecurrentStateShape& model, const RecurrentStateShape& dump,
                  const std::string& what) {
  EXPECT_EQ(model.model_layers, dump.model_layers) << what;
  EXPECT_EQ(model.stored_layers, dump.stored_layers) << what;
  EXPECT_EQ(model.r_row_bytes, dump.r_row_bytes) << what;
  EXPECT_EQ(model.s_row_bytes, dump.s_row_bytes) << what;
}

void expect_equal(const ModelShape& model, const ModelShape& dump, const std::string& what) {
  EXPECT_EQ(model.arrangement, dump.arrangement) << what;
  if (!dump.arch.empty()) {
    EXPECT_EQ(model.arch, dump.arch) << what;
  }
  if (dump.needs_extension) {
    EXPECT_EQ(model.needs_extension, dump.needs_extension) << what;
  }
  ASSERT_EQ(model.caches.size(), dump.caches.size()) << what;
  for (std::size_t c = 0; c < model.caches.size(); ++c)
    expect_equal(model.caches[c], dump.caches[c], what + ": " + dump.caches[c].role);
  ASSERT_EQ(model.recurrent.has_value(), dump.recurrent.has_value()) << what;
  if (model.recurrent) expect_equal(*model.recurrent, *dump.recurrent, what);
}

struct Pair {
  const char* model;
  const char* dump;
  const char* era;
};

TEST(ShapeOfModel, IsWhatLlamaCppSavedForIt) {
  const Pair pairs[] = {
      {"models/llama.gguf", "modern/b11118/llama-simple.ggsn", "10/3"},
      {"models/llama.gguf", "modern/b4748/llama-nofa-f16.seq0.ggsq", "9/2-flat"},
      {"models/llama-h64.gguf", "modern/b11118/llamah64-fa-q4_0.ggsn", "10/3"},
      {"models/gemma3.gguf", "modern/b11118/gemma3-swa.ggsn", "10/3"},
      {"models/gemma3.gguf", "server/b0.7.0/gemma3.ggsq", "11/4"},
      {"models/qwen2vl.gguf", "modern/b11118/qwen2vl-image.ggsn", "10/3"},
      {"models/qwen2vl.gguf", "server/b0.7.0/qwen2vl.ggsq", "11/4"},
      {"models/deepseek2-mha.gguf", "modern/b11118/ds2mha-nofa.ggsn", "10/3"},
      {"models/deepseek2-mla.gguf", "modern/b11118/ds2mla.ggsn", "10/3"},
      {"models/deepseek2-mla.gguf", "restore/ds2mla-rn-0.6.7.seq0.ggsq", "9/2-streams"},
      {"models/deepseek32.gguf", "modern/b11118/dsa-deepseek32.ggsn", "10/3"},
      {"models/minimax-m3.gguf", "modern/b11118/msa-minimax-m3.ggsn", "10/3"},
      {"models/mamba.gguf", "modern/b11118/mamba-multi.ggsn", "10/3"},
      {"models/mamba.gguf", "server/b0.7.0/mamba.ggsq", "11/4"},
      {"models/jamba.gguf", "modern/b11118/jamba.ggsn", "10/3"},
      {"models/lfm2.gguf", "modern/b11118/lfm2.ggsn", "10/3"},
      {"models/lfm2-swa.gguf", "modern/b11118/lfm2swa.ggsn", "10/3"},
      {"restore/qwen35-head.gguf", "server/b0.7.0/qwen35.ggsq", "11/4"},
  };
  for (const Pair& pair : pairs)
    expect_equal(promised(pair.model, era_of_loader(pair.era)),
                 shape_of_dump(open_dump(testdata(pair.dump).string())), pair.dump);
}

TEST(ShapeOfModel, HeadsWindowAndVocabulary) {
  const Era& now = eras().back();
  EXPECT_EQ(promised("models/llama.gguf", now).n_vocab, 300U);
  EXPECT_EQ(promised("models/llama-h64.gguf", now).caches[0].head_k, 64U);
  EXPECT_EQ(promised("models/gemma3.gguf", now).caches[1].window, 12U);
  EXPECT_EQ(promised("models/gemma3.gguf", now).caches[0].window, 0U);
  EXPECT_EQ(promised("models/gemma3.gguf", era_of_loader("b4748")).caches.size(), 1U);
}

// The rotation words of genuine 0.7.0 files follow from model and types.
TEST(ShapeOfModel, TellsTheRotationOfGenuineFiles) {
  const std::pair<const char*, const char*> files[] = {
      {"models/llama-h64.gguf", "server/b0.7.0/llamah64-q8_0-k-only.ggsq"},
      {"models/gemma3.gguf", "server/b0.7.0/gemma3-q8_0.ggsq"},
      {"models/llama-h64.gguf", "server/b0.7.0-library/llamah64-q8_0-unified.seq2.ggsq"},
      {"models/deepseek32.gguf", "server/b0.7.0-library/deepseek32-multi-unified.ggsn"},
      {"models/minimax-m3.gguf", "server/b0.7.0-library/minimax-m3-multi-unified.ggsn"}};
  for (const auto& [model, file] : files) {
    const Target seen = target_like(open_dump(testdata(file).string()));
    Target told = seen;
    told.model = promised(model, *seen.era);
    told.rotation.clear();
    for (std::size_t c = 0; c < told.model->caches.size(); ++c)
      EXPECT_EQ(told.rotation_of(c), seen.rotation_of(c)) << file << " cache " << c;
  }
}

TEST(ShapeOfModel, WhatIsNotKnownIsRefusedWithTheWayOut) {
  const auto refusal = [](const char* model) -> std::string {
    try {
      static_cast<void>(promised(model, eras().back()));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      return error.message();
    }
    return {};
  };
  EXPECT_NE(refusal("models/qwen4exp.gguf").find("--like"), std::string::npos);
}

// What could make a model differ from its family is not passed over.
TEST(ShapeOfModel, OdditiesOfAFamilyAreRefused) {
  const auto llama = [] {
    GgufBuilder model;
    model.string("general.architecture", "llama");
    for (const auto& [key, value] :
         {std::pair{"block_count", 2U}, {"embedding_length", 64U}, {"attention.head_count", 4U}})
      model.key(fmt::format("llama.{}", key), GgufType::u32).u32(value);
    return model;
  };
  GgufBuilder sound = llama();
  sound.i32s("llama.attention.head_count_kv", {1, 2});
  const ModelShape shape = shape_of_model(test::open_bytes(sound.bytes()), eras().back());
  EXPECT_EQ(shape.caches[0].layers, (std::vector<LayerShape>{{16, 16}, {32, 32}}));

  GgufBuilder holes = llama();
  holes.i32s("llama.attention.head_count_kv", {0, 2});
  EXPECT_THROW(static_cast<void>(shape_of_model(test::open_bytes(holes.bytes()), eras().back())),
               Error);
  GgufBuilder window = llama();
  window.i32s("llama.attention.head_count_kv", {1, 2});
  window.key("llama.attention.sliding_window", GgufType::u32).u32(128);
  EXPECT_THROW(static_cast<void>(shape_of_model(test::open_bytes(window.bytes()), eras().back())),
               Error);
  GgufBuilder shorter = llama();
  shorter.i32s("llama.attention.head_count_kv", {1});
  EXPECT_THROW(static_cast<void>(shape_of_model(test::open_bytes(shorter.bytes()), eras().back())),
               Error);
}

}  // namespace
}  // namespace kvtool
