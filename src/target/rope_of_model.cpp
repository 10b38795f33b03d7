// From the keys of a model file to how K of each stored layer turns.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "kvtool/target.h"
#include "target/model_keys.h"
#include "target/rope_arch.h"
#include "target/rope_factors.h"

namespace kvtool {
namespace {

using target::ModelKeys;
using target::RopeKind;

constexpr const char* what_helps =
    "give --rope-pairs, --rope-freq-base and --head-size, or --labels-only";

std::size_t layers_of(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty()) return stream.layers.size();
  return 0;
}

bool has_keys(const Memory& memory) {
  return memory.kind == MemoryKind::attention && layers_of(memory) > 0;
}

// Rows are whole heads; a head of another size is one of another model.
Rope rope_for(const Memory& memory, const RopeParameters& parameters) {
  Rope rope = make_rope(parameters);
  for (const Stream& stream : memory.streams)
    for (const Layer& layer : stream.layers)
      if (layer.k.cell_elements() % rope.head != 0)
        throw Error(ErrorKind::usage, fmt::format("K has rows of {} numbers, which are no heads of {}",
                                                  layer.k.cell_elements(), rope.head));
  return rope;
}

// What the caller says wins.
void take_options(const RopeOptions& o, RopeParameters& p) {
  p.pairs = o.pairs.value_or(p.pairs);
  p.head = o.head.value_or(p.head);
  p.offset = o.offset.value_or(p.offset);
  p.dimensions = o.dimensions.value_or(p.dimensions);
  p.base = o.base.value_or(p.base);
  p.scale = o.scale.value_or(p.scale);
  p.scaling = o.scaling.value_or(p.scaling);
  p.original_context = o.original_context.value_or(p.original_context);
  p.yarn_ext_factor = o.yarn_ext_factor.value_or(p.yarn_ext_factor);
  p.yarn_beta_fast = o.yarn_beta_fast.value_or(p.yarn_beta_fast);
  p.yarn_beta_slow = o.yarn_beta_slow.value_or(p.yarn_beta_slow);
  if (p.scaling == RopeScaling::none) p.scale = 1;
}

class ModelRope {
 public:
  ModelRope(const Gguf& model, const Dump& dump, const RopeOptions& options)
      : model_(model), keys_(model), dump_(dump), options_(options) {}

  RopeFacts facts() const {
    RopeFacts facts;
    const auto kind = target::rope_kind(keys_.arch(), keys_.has("rope.dimension_sections"));
    if (!kind && !options_.pairs) refuse("turns is not known here");
    for (const Memory& memory : dump_.state.memories) {
      facts.memories.push_back(nullptr);
      if (kind == RopeKind::none || !has_keys(memory)) continue;
      require_known_index(memory, kind);
      facts.memories.back() = cache_rope(memory, kind.value_or(RopeKind::norm));
    }
    return facts;
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    throw Error(ErrorKind::unsupported, fmt::format("how K of {} models {}; {}", keys_.arch(), why,
                                                    what_helps))
        .in_file(model_.source().name());
  }

  [[noreturn]] void refuse_index(const char* why) const {
    throw Error(ErrorKind::unsupported,
                fmt::format("the index cache of {} models {}; --labels-only leaves all of K as it is",
                            keys_.arch(), why))
        .in_file(model_.source().name());
  }

  double number(const char* key, double otherwise) const {
    return model_.f64(fmt::format("{}.{}", keys_.arch(), key)).value_or(otherwise);
  }

  // The keys that qwen4exp's index compares are the same at every position. But since October 2026
  // (0.7.0) rows are twice as wide: every fourth one also holds a key for the four cells up to it,
  // which does turn, and which four they are changes with the position.
  void require_known_index(const Memory& memory, std::optional<RopeKind> kind) const {
    if (memory.role != "index") return;
    if (!kind) refuse_index("turns in a way that is not known here");
    if (keys_.arch() != "qwen4exp") return;
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers)
        if (layer.k.cell_elements() != keys_.value("attention.indexer.key_length"))
          refuse_index("holds keys of whole blocks of positions, which a shift would tear apart");
  }

  std::shared_ptr<const CacheRope> cache_rope(const Memory& memory, RopeKind kind) const {
    const Rope rope = rope_for(memory, parameters(memory, kind));
    auto cache = std::make_shared<CacheRope>();
    for (std::size_t l = 0; l < layers_of(memory); ++l)
      cache->layers.push_back(turns(memory, l) ? std::optional(rope) : std::nullopt);
    return cache;
  }

  // Layers that do not look at positions.
  bool turns(const Memory& memory, std::size_t layer) const {
    if (keys_.arch() == "qwen4exp" && memory.role == "index") return false;
    if (keys_.arch() == "smollm3") return (layer + 1) % 4 != 0;
    if (keys_.arch() == "cohere2") return memory.role == "window";
    return true;
  }

  RopeParameters parameters(const Memory& memory, RopeKind kind) const {
    RopeParameters p;
    p.pairs = kind == RopeKind::norm ? RopePairs::neighbours : RopePairs::halves;
    p.interleaved = kind == RopeKind::interleaved_mrope;
    p.head = keys_.head_k();
    p.dimensions = static_cast<std::uint32_t>(keys_.value("rope.dimension_count", p.head));
    p.base = number("rope.freq_base", 10000);
    take_scaling(p);
    take_sections(p);
    take_options(options_, p);
    p.factors = target::rope_factors(model_, options_.context, p.original_context);
    if (memory.role == "window") take_window(p);
    if (memory.role == "index") take_index(p);
    else if (keys_.has("attention.kv_lora_rank")) take_mla(p);
    return p;
  }

  void take_scaling(RopeParameters& p) const {
    const std::string prefix = keys_.arch() + ".rope.scaling.";
    const std::string type = model_.string(prefix + "type").value_or("linear");
    p.scaling = type == "none"       ? RopeScaling::none
                : type == "yarn"     ? RopeScaling::yarn
                : type == "longrope" ? RopeScaling::longrope
                                     : RopeScaling::linear;
    const double factor = number("rope.scaling.factor", number("rope.scale_linear", 0));
    p.scale = factor == 0 ? 1 : 1 / factor;
    p.original_context = keys_.value("rope.scaling.original_context_length",
                                     keys_.value("context_length", 0));
    p.yarn_ext_factor = std::max(number("rope.scaling.yarn_ext_factor", 1), 0.0);
    p.yarn_beta_fast = number("rope.scaling.yarn_beta_fast", 32);
    p.yarn_beta_slow = number("rope.scaling.yarn_beta_slow", 1);
    if (number("rope.scaling.alpha", 0) != 0) refuse("with a scaling alpha turns is not known here");
  }

  void take_sections(RopeParameters& p) const {
    const auto sections = model_.i32s(keys_.arch() + ".rope.dimension_sections");
    if (!sections || p.pairs == RopePairs::neighbours) return;
    for (std::size_t i = 0; i < p.sections.size() && i < sections->size(); ++i)
      p.sections[i] = static_cast<std::uint32_t>(std::max((*sections)[i], 0));
  }

  // Gemma 3 leaves its window layers as they were before it stretched the others.
  void take_window(RopeParameters& p) const {
    const bool own = keys_.arch() == "gemma3";
    if (own) p.scale = 1;
    p.base = options_.window_base.value_or(number("rope.freq_base_swa", own ? 10000 : p.base));
    p.dimensions = static_cast<std::uint32_t>(keys_.value("rope.dimension_count_swa", p.dimensions));
    p.head = static_cast<std::uint32_t>(keys_.value("attention.key_length_swa", p.head));
  }

  void take_index(RopeParameters& p) const {
    p.head = static_cast<std::uint32_t>(keys_.value("attention.indexer.key_length"));
    p.pairs = RopePairs::halves;
    p.offset = 0;
  }

  // Only a part of a head of K turns; on which side it lies depends on the date.
  void take_mla(RopeParameters& p) const {
    if (options_.offset) return;
    const bool deepseek = keys_.arch().rfind("deepseek", 0) == 0 || keys_.arch() == "glm-dsa";
    const MlaRows rows = deepseek ? era_of_dump(dump_).mla_rows : MlaRows::unknown;
    if (rows == MlaRows::unknown)
      throw Error(ErrorKind::usage,
                  "which part of K turns differs from model to model and with the date of the writer, "
                  "and is not known for this file; say --rope-offset N, where the part begins in a head");
    p.offset = rows == MlaRows::rope_nope || p.dimensions > p.head ? 0 : p.head - p.dimensions;
  }

  const Gguf& model_;
  ModelKeys keys_;
  const Dump& dump_;
  const RopeOptions& options_;
};

RopeParameters given(const RopeOptions& options) {
  if (!options.pairs || !options.base || !options.head)
    throw Error(ErrorKind::usage,
                "how K turns is not known: say --model MODEL.gguf, or --rope-pairs, --rope-freq-base "
                "and --head-size, or --labels-only to leave K as it is");
  RopeParameters p;
  p.scaling = RopeScaling::linear;
  p.dimensions = *options.head;
  take_options(options, p);
  return p;
}

}  // namespace

RopeFacts rope_of_model(const Gguf& model, const Dump& dump, const RopeOptions& options) {
  return ModelRope(model, dump, options).facts();
}

RopeFacts rope_of_options(const Dump& dump, const RopeOptions& options) {
  RopeFacts facts;
  for (const Memory& memory : dump.state.memories) {
    facts.memories.push_back(nullptr);
    if (!has_keys(memory)) continue;
    if (memory.role == "index")
      throw Error(ErrorKind::usage, "how an index cache turns is only known from --model MODEL.gguf");
    RopeParameters p = given(options);
    if (memory.role == "window") p.base = options.window_base.value_or(p.base);
    facts.memories.back() = std::make_shared<CacheRope>(
        CacheRope{std::vector<std::optional<Rope>>(layers_of(memory), rope_for(memory, p))});
  }
  return facts;
}

}  // namespace kvtool
