#include "target/rope_arch.h"

#include <algorithm>
#include <iterator>

namespace kvtool::target {
namespace {

// Architectures whose layers all do the same; those that mix layers with and without, or change the
// dimensions from layer to layer, are left out unless rope_of_model() knows their pattern.
constexpr std::string_view without[] = {"gpt2",  "gptj",  "mpt",   "refact",     "bloom",
                                        "mamba", "mamba2", "jamba", "jais",       "rwkv6",
                                        "rwkv7", "arwkv7", "rwkv6qwen2", "nemotron_h",
                                        "nemotron_h_moe"};
constexpr std::string_view norm[] = {
    "llama",    "deci",       "baichuan",  "starcoder", "internlm2",    "minicpm",  "xverse",
    "command-r", "cohere2",   "olmo",      "arctic",    "deepseek",     "deepseek2", "deepseek32",
    "plm",      "chatglm",    "granite",   "granitemoe", "granitehybrid", "chameleon", "bailingmoe",
    "smollm3",  "arcee",      "ernie4_5",  "ernie4_5-moe", "mistral3",  "glm-dsa",  "maincoder"};
constexpr std::string_view neox[] = {
    "falcon",  "falcon-h1", "grok",     "dbrx",      "stablelm",   "bitnet",      "qwen",
    "qwen2",   "qwen2moe",  "qwen3",    "qwen3moe",  "dream",      "olmo2",       "olmoe",
    "phi2",    "phi3",      "phimoe",   "plamo",     "gemma",      "gemma2",      "gemma3",
    "starcoder2", "openelm", "gptneox", "codeshell", "orion",      "nemotron",    "exaone",
    "minicpm3", "dots1",    "hunyuan-moe", "hunyuan-dense", "gpt-oss", "lfm2",    "lfm2moe",
    "seed_oss", "grovemoe", "apertus",  "minimax-m2", "minimax-m3", "qwen3next", "bailingmoe2"};
constexpr std::string_view mrope[] = {"qwen2vl", "paddleocr"};
constexpr std::string_view interleaved[] = {"qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe",
                                            "qwen4exp"};

template <std::size_t n>
bool among(const std::string_view (&names)[n], std::string_view arch) {
  return std::find(std::begin(names), std::end(names), arch) != std::end(names);
}

}  // namespace

std::optional<RopeKind> rope_kind(std::string_view arch, bool has_sections) {
  if (arch == "glm4") return has_sections ? RopeKind::mrope : RopeKind::norm;
  if (arch == "glm4moe") return has_sections ? RopeKind::mrope : RopeKind::neox;
  if (among(without, arch)) return RopeKind::none;
  if (among(norm, arch)) return RopeKind::norm;
  if (among(neox, arch)) return RopeKind::neox;
  if (among(mrope, arch)) return RopeKind::mrope;
  if (among(interleaved, arch)) return RopeKind::interleaved_mrope;
  return std::nullopt;
}

}  // namespace kvtool::target
