// The models of the genuine sessions of before August 2024, as model files: the corpus describes them
// in words (README of history/), and its sidecars name them.
#pragma once

#include <memory>
#include <string>

#include "gguf/gguf_builder.h"

namespace kvtool::test {

// What may be changed in one, to see what follows.
struct OldModelChange {
  std::uint32_t rope_dimensions = 0;  // 0: as it is
  std::uint32_t feed_forward = 0;
};

inline void put_number(GgufBuilder& model, const std::string& key, std::uint32_t value) {
  model.key(key, GgufType::u32).u32(value);
}

struct OldModel {
  std::string arch = "llama";
  std::uint32_t context = 512;
  std::uint32_t embedding = 128;
  std::uint32_t layers = 2;
  std::uint32_t heads = 4;
  std::uint32_t heads_kv = 2;
  std::uint32_t feed_forward = 96;
  std::uint32_t rope_dimensions = 32;  // 0: the model does not say
  float epsilon = 1e-5F;
};

// Only what is not the default of llama-gqa.
inline OldModel old_model_called(const std::string& file) {
  OldModel model;
  if (file.starts_with("llama-ggjt"))
    model = {"llama", 512, 32,   32, 2, file.find("gqa") == std::string::npos ? 2U : 1U,
             96,      16,  1e-5F};
  if (file == "mamba.gguf") model = {"mamba", 512, 32, 2, 0, 0, 0, 0, 1e-5F};
  if (file == "openelm.gguf") model = {"openelm", 512, 64, 3, 0, 0, 0, 32, 1e-6F};
  return model;
}

inline void put_states(GgufBuilder& gguf) {
  put_number(gguf, "mamba.ssm.conv_kernel", 4);
  put_number(gguf, "mamba.ssm.inner_size", 64);
  put_number(gguf, "mamba.ssm.state_size", 16);
  put_number(gguf, "mamba.ssm.time_step_rank", 2);
}

// Heads of width 32 that differ from layer to layer.
inline void put_layers(GgufBuilder& gguf) {
  gguf.i32s("openelm.attention.head_count", {4, 4, 8});
  gguf.i32s("openelm.attention.head_count_kv", {1, 2, 2});
  gguf.i32s("openelm.feed_forward_length", {64, 96, 128});
  put_number(gguf, "openelm.attention.key_length", 32);
  put_number(gguf, "openelm.attention.value_length", 32);
}

inline std::shared_ptr<const Gguf> old_model(const std::string& file,
                                             const OldModelChange& change = {}) {
  OldModel model = old_model_called(file);
  if (change.rope_dimensions > 0) model.rope_dimensions = change.rope_dimensions;
  if (change.feed_forward > 0) model.feed_forward = change.feed_forward;
  GgufBuilder gguf;
  const auto put = [&](const char* key, std::uint32_t value) {
    put_number(gguf, model.arch + "." + key, value);
  };
  gguf.string("general.architecture", model.arch);
  gguf.strings("tokenizer.ggml.tokens", std::vector<std::string>(96, "t"));
  put("context_length", model.context);
  put("embedding_length", model.embedding);
  put("block_count", model.layers);
  gguf.key(model.arch + ".attention.layer_norm_rms_epsilon", GgufType::f32).f32(model.epsilon);
  if (model.rope_dimensions > 0) put("rope.dimension_count", model.rope_dimensions);
  if (model.arch == "mamba") put_states(gguf);
  if (model.arch == "openelm") {
    put_layers(gguf);
  } else {
    put("attention.head_count", model.heads);
    put("attention.head_count_kv", model.heads_kv);
    put("feed_forward_length", model.feed_forward);
  }
  return std::make_shared<const Gguf>(open_bytes(gguf.bytes()));
}

}  // namespace kvtool::test
