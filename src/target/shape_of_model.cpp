// From the keys of a model file to the caches that llama.cpp makes for it.
//
// Every family below is either one whose dumps the tests compare with the model, or one that
// llama.cpp gives a plain cache of all its layers. Whatever could make a model differ from its
// family (a window, prediction layers, layers without heads) is refused instead of ignored.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "kvtool/target.h"
#include "target/model_keys.h"

namespace kvtool {
namespace {

using target::ModelKeys;

// Architectures with one plain cache of all layers.
constexpr std::string_view plain[] = {
    "apertus",     "arcee",        "arctic",    "baichuan",   "bitnet",   "bloom",
    "chatglm",     "codeshell",    "command-r", "dbrx",       "deepseek", "dots1",
    "ernie4_5",    "ernie4_5-moe", "exaone",    "falcon",     "gemma",    "glm4",
    "gpt2",        "gptneox",      "granite",   "granitemoe", "grok",     "hunyuan-dense",
    "hunyuan-moe", "internlm2",    "jais",      "llama",      "minicpm",  "mpt",
    "nemotron",    "olmo",         "olmo2",     "olmoe",      "openelm",  "orion",
    "phi2",        "phi3",         "qwen",      "qwen2",      "qwen2moe", "qwen3",
    "qwen3moe",    "refact",       "seed_oss",  "smollm3",    "stablelm", "starcoder",
    "starcoder2",  "xverse"};
// The same with positions of several numbers.
constexpr std::string_view plain_mrope[] = {"qwen2vl", "qwen3vl", "qwen3vlmoe"};

// Architectures with a window in some layers: `period` of them repeat, the last one is full.
struct WindowFamily {
  std::string_view arch;
  std::uint32_t period;
};
constexpr WindowFamily windowed[] = {{"cohere2", 4}, {"gemma2", 2}, {"gemma3", 6}, {"gpt-oss", 2}};

template <std::size_t n>
bool among(const std::string_view (&names)[n], const std::string& arch) {
  return std::find(std::begin(names), std::end(names), arch) != std::end(names);
}

CacheShape cache_named(const char* role, const ModelKeys& keys) {
  CacheShape cache;
  cache.role = role;
  cache.head_k = keys.head_k();
  cache.head_v = keys.head_v();
  return cache;
}

LayerShape layer_of(const CacheShape& cache, std::uint64_t kv_heads) {
  return {checked_multiply(cache.head_k, kv_heads), checked_multiply(cache.head_v, kv_heads)};
}

void refuse_oddities(const ModelKeys& keys) {
  if (keys.value("nextn_predict_layers", 0) > 0) keys.refuse("has layers that predict more tokens");
  if (keys.value("attention.shared_kv_layers", 0) > 0) keys.refuse("shares caches between layers");
}

// One cache of all layers, all of which must have heads.
CacheShape all_layers(const char* role, const ModelKeys& keys) {
  CacheShape cache = cache_named(role, keys);
  for (const std::uint64_t heads : keys.per_layer("attention.head_count_kv")) {
    if (heads == 0) keys.refuse("has layers without attention");
    cache.layers.push_back(layer_of(cache, heads));
  }
  return cache;
}

void plain_shape(const ModelKeys& keys, ModelShape& shape) {
  if (keys.value("attention.sliding_window", 0) > 0) keys.refuse("has a sliding window");
  shape.arrangement = "kv";
  shape.caches = {all_layers("main", keys)};
}

// Two caches since spring 2025, one before.
void window_shape(const ModelKeys& keys, const Era& era, std::uint32_t usual, ModelShape& shape) {
  const std::uint64_t period = keys.value("attention.sliding_window_pattern", usual);
  if (keys.is_list("attention.sliding_window_pattern") || period == 0)
    keys.refuse("has a window pattern of its own");
  const std::uint64_t window = keys.value("attention.sliding_window", 0);
  if (window == 0) keys.refuse("names no window");
  CacheShape all = all_layers("main", keys);
  shape.arrangement = "kv";
  if (!era.streams && !era.sequence_ids) {
    shape.caches = {all};
    return;
  }
  shape.arrangement = "iswa";
  shape.caches = {cache_named("base", keys), cache_named("window", keys)};
  shape.caches[1].window = static_cast<std::uint32_t>(window);
  for (std::size_t l = 0; l < all.layers.size(); ++l)
    shape.caches[l % period == period - 1 ? 0 : 1].layers.push_back(all.layers[l]);
}

// Compressed K, and V a view of it: stored as K alone since January 2026, as both before.
void mla_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  shape.arrangement = era.mla_without_v ? "mla" : "kv";
  CacheShape cache = all_layers("main", keys);
  if (era.mla_without_v)
    for (LayerShape& layer : cache.layers) layer.v_width = 0;
  shape.caches = {cache};
}

void deepseek2_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  if (keys.has("attention.key_length_mla")) return mla_shape(keys, era, shape);
  plain_shape(keys, shape);
}

CacheShape index_cache(const ModelKeys& keys, std::uint32_t first_layer) {
  CacheShape cache;
  cache.role = "index";
  cache.head_k = static_cast<std::uint32_t>(keys.value("attention.indexer.key_length"));
  if (first_layer < keys.layers())
    cache.layers.assign(keys.layers() - first_layer, LayerShape{cache.head_k, 0});
  return cache;
}

void deepseek32_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  if (!era.mla_without_v) keys.refuse("is younger than that loader");
  mla_shape(keys, era, shape);
  shape.arrangement = "dsa";
  shape.caches.push_back(index_cache(keys, 0));
}

// Its index caches store V as well. Only models whose index and value heads are of one size were
// seen, so that is all that is claimed.
void minimax_shape(const ModelKeys& keys, ModelShape& shape) {
  shape.arrangement = "iswa";
  shape.caches = {all_layers("base", keys)};
  CacheShape index =
      index_cache(keys, static_cast<std::uint32_t>(keys.value("leading_dense_block_count", 0)));
  if (index.head_k != shape.caches[0].layers.front().v_width)
    keys.refuse("has index heads of another size than its values");
  index.head_v = index.head_k;
  for (LayerShape& layer : index.layers) layer.v_width = layer.k_width;
  shape.caches.push_back(index);
}

constexpr std::uint64_t float_bytes = 4;

// A state space model's last inputs (R) and its state (S).
RecurrentStateShape ssm_state(const ModelKeys& keys, std::uint32_t stored) {
  const std::uint64_t conv = keys.value("ssm.conv_kernel");
  const std::uint64_t inner = keys.value("ssm.inner_size");
  const std::uint64_t state = keys.value("ssm.state_size");
  const std::uint64_t groups = keys.value("ssm.group_count", 0);
  const std::uint64_t inputs =
      checked_add(inner, checked_multiply(2, checked_multiply(groups, state)));
  RecurrentStateShape shape;
  shape.model_layers = keys.layers();
  shape.stored_layers = stored;
  shape.r_row_bytes =
      checked_multiply(checked_multiply(conv == 0 ? 0 : conv - 1, inputs), float_bytes);
  shape.s_row_bytes = checked_multiply(checked_multiply(state, inner), float_bytes);
  return shape;
}

// A short convolution's last inputs; it has no state.
RecurrentStateShape short_convolution(const ModelKeys& keys, std::uint32_t stored) {
  RecurrentStateShape shape;
  const std::uint64_t inputs = keys.value("shortconv.l_cache");
  shape.model_layers = keys.layers();
  shape.stored_layers = stored;
  shape.r_row_bytes = checked_multiply(checked_multiply(inputs == 0 ? 0 : inputs - 1,
                                                        keys.value("embedding_length")),
                                       float_bytes);
  return shape;
}

// The layers with attention of a model that says which by their heads.
CacheShape layers_with_heads(const char* role, const ModelKeys& keys) {
  CacheShape cache = cache_named(role, keys);
  for (const std::uint64_t heads : keys.per_layer("attention.head_count_kv"))
    if (heads > 0) cache.layers.push_back(layer_of(cache, heads));
  return cache;
}

std::uint32_t other_layers(const ModelKeys& keys, const CacheShape& cache) {
  return keys.layers() - static_cast<std::uint32_t>(cache.layers.size());
}

void require_hybrids(const ModelKeys& keys, const Era& era) {
  if (!era.streams) keys.refuse("is younger than that loader");
}

void jamba_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  require_hybrids(keys, era);
  shape.arrangement = "hybrid";
  shape.caches = {layers_with_heads("main", keys)};
  shape.recurrent = ssm_state(keys, other_layers(keys, shape.caches[0]));
}

// With a window, all its attention layers are in the window cache and the base cache has none.
void lfm2_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  require_hybrids(keys, era);
  const std::uint64_t window = keys.value("attention.sliding_window", 0);
  CacheShape cache = layers_with_heads(window > 0 ? "window" : "main", keys);
  cache.window = static_cast<std::uint32_t>(window);
  shape.recurrent = short_convolution(keys, other_layers(keys, cache));
  shape.arrangement = window > 0 ? "hybrid-iswa" : "hybrid";
  if (window > 0) shape.caches.push_back(cache_named("base", keys));
  shape.caches.push_back(cache);
}

// Every n-th layer has attention, the others a gated delta network.
void qwen_hybrid_shape(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  require_hybrids(keys, era);
  const std::uint64_t interval = keys.value("full_attention_interval", 4);
  if (interval == 0) keys.refuse("has no attention layers");
  const std::vector<std::uint64_t> heads = keys.per_layer("attention.head_count_kv");
  CacheShape cache = cache_named("main", keys);
  for (std::size_t l = 0; l < heads.size(); ++l)
    if ((l + 1) % interval == 0) cache.layers.push_back(layer_of(cache, heads[l]));
  shape.arrangement = "hybrid";
  shape.recurrent = ssm_state(keys, other_layers(keys, cache));
  shape.caches = {cache};
}

void fill(const ModelKeys& keys, const Era& era, ModelShape& shape) {
  const std::string& arch = keys.arch();
  if (among(plain, arch) || among(plain_mrope, arch)) return plain_shape(keys, shape);
  for (const WindowFamily& family : windowed)
    if (family.arch == arch) return window_shape(keys, era, family.period, shape);
  if (arch == "deepseek2") return deepseek2_shape(keys, era, shape);
  if (arch == "deepseek32") return deepseek32_shape(keys, era, shape);
  if (arch == "minimax-m3") return minimax_shape(keys, shape);
  if (arch == "jamba") return jamba_shape(keys, era, shape);
  if (arch == "lfm2" || arch == "lfm2moe") return lfm2_shape(keys, era, shape);
  if (arch == "qwen35" || arch == "qwen35moe" || arch == "qwen3next")
    return qwen_hybrid_shape(keys, era, shape);
  if (arch != "mamba") keys.refuse("is of an architecture of its own");
  shape.arrangement = "recurrent";
  shape.recurrent = ssm_state(keys, keys.layers());
}

bool has_many_positions(const ModelKeys& keys) {
  return among(plain_mrope, keys.arch()) || keys.arch() == "qwen35" || keys.arch() == "qwen35moe";
}

}  // namespace

ModelShape shape_of_model(const Gguf& model, const Era& era) {
  const ModelKeys keys(model);
  ModelShape shape;
  shape.arch = keys.arch();
  shape.n_vocab = keys.vocabulary();
  refuse_oddities(keys);
  const bool many = has_many_positions(keys);
  if (!many && keys.has("rope.dimension_sections")) keys.refuse("has positions of several numbers");
  shape.needs_extension = many && era.extension != CellExtension::none;
  fill(keys, era, shape);
  return shape;
}

}  // namespace kvtool
