// The parameters that builds of before August 2024 read from a model file.
//
// What they took where a key is absent is what the structs of genuine sessions hold, for models of
// the architectures llama, mamba and openelm. What other architectures set on their own account
// (ALiBi, the kind of RoPE, windows) is told only where it is known.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "convert/header_values.h"

namespace kvtool::convert_steps {
namespace {

using format::HeaderField;
using format::HeaderFieldKind;
using format::HeaderLayout;

// A field that is a key of the model, below the name of its architecture.
struct FieldKey {
  std::string_view field;
  std::string_view key;
  std::optional<double> absent;  // the value without the key; none: a model must have it
};

constexpr std::array field_keys = {FieldKey{"n_ctx_train", "context_length", {}},
                                   FieldKey{"n_embd", "embedding_length", {}},
                                   FieldKey{"n_layer", "block_count", {}},
                                   FieldKey{"n_head", "attention.head_count", {}},
                                   FieldKey{"n_ff", "feed_forward_length", {}},
                                   FieldKey{"n_expert", "expert_count", 0},
                                   FieldKey{"n_expert_used", "expert_used_count", 0},
                                   FieldKey{"n_layer_dense_lead", "leading_dense_block_count", 0},
                                   FieldKey{"n_lora_q", "attention.q_lora_rank", 0},
                                   FieldKey{"n_lora_kv", "attention.kv_lora_rank", 0},
                                   FieldKey{"n_ff_exp", "expert_feed_forward_length", 0},
                                   FieldKey{"n_ff_shexp", "expert_shared_feed_forward_length", 0},
                                   FieldKey{"n_expert_shared", "expert_shared_count", 0},
                                   FieldKey{"expert_weights_scale", "expert_weights_scale", 0},
                                   FieldKey{"attn_softcap", "attn_logit_softcapping", 50},
                                   FieldKey{"final_softcap", "final_logit_softcapping", 30},
                                   FieldKey{"rope_attn_factor", "rope.scaling.attn_factor", 1},
                                   FieldKey{"rope_yarn_log_mul", "rope.scaling.yarn_log_multiplier",
                                            0},
                                   FieldKey{"rope_finetuned", "rope.scaling.finetuned", 0},
                                   FieldKey{"ssm_d_conv", "ssm.conv_kernel", 0},
                                   FieldKey{"ssm_d_inner", "ssm.inner_size", 0},
                                   FieldKey{"ssm_d_state", "ssm.state_size", 0},
                                   FieldKey{"ssm_dt_rank", "ssm.time_step_rank", 0},
                                   FieldKey{"clamp_kqv", "attention.clamp_kqv", 0},
                                   FieldKey{"logit_scale", "logit_scale", 0},
                                   FieldKey{"use_par_res", "use_parallel_residual", 0},
                                   FieldKey{"causal_attn", "attention.causal", 1},
                                   FieldKey{"pooling_layer", "pooling_layer", 0},
                                   FieldKey{"pooling_type", "pooling_type", 0},
                                   FieldKey{"n_rel_attn_bkts", "attention.relative_buckets_count",
                                            0},
                                   FieldKey{"dec_start_token", "decoder_start_token_id", -1}};

// Kinds of RoPE by their numbers, for architectures that never had another one.
struct RopeNumber {
  std::string_view arch;
  int number;
};
constexpr std::array rope_numbers = {
    RopeNumber{"bloom", -1},    RopeNumber{"gpt2", -1},     RopeNumber{"jais", -1},
    RopeNumber{"mamba", -1},    RopeNumber{"mpt", -1},      RopeNumber{"refact", -1},
    RopeNumber{"arctic", 0},    RopeNumber{"baichuan", 0},  RopeNumber{"chatglm", 0},
    RopeNumber{"command-r", 0}, RopeNumber{"deepseek2", 0}, RopeNumber{"internlm2", 0},
    RopeNumber{"llama", 0},     RopeNumber{"minicpm", 0},   RopeNumber{"olmo", 0},
    RopeNumber{"orion", 0},     RopeNumber{"plamo", 0},     RopeNumber{"starcoder", 0},
    RopeNumber{"xverse", 0},    RopeNumber{"bitnet", 2},    RopeNumber{"dbrx", 2},
    RopeNumber{"falcon", 2},    RopeNumber{"gemma", 2},     RopeNumber{"gemma2", 2},
    RopeNumber{"grok", 2},      RopeNumber{"openelm", 2},   RopeNumber{"phi2", 2},
    RopeNumber{"phi3", 2},      RopeNumber{"qwen", 2},      RopeNumber{"qwen2", 2},
    RopeNumber{"qwen2moe", 2},  RopeNumber{"stablelm", 2},  RopeNumber{"starcoder2", 2}};

// Their builds set ALiBi without a key.
constexpr std::array<std::string_view, 4> alibi_by_name = {"baichuan", "bloom", "refact", "jais"};
// Their builds read the window, and no others did.
constexpr std::array<std::string_view, 2> windowed = {"gemma2", "phi3"};

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Nothing for a number that no word holds.
std::optional<std::uint32_t> word_of(HeaderFieldKind kind, double value) {
  if (kind == HeaderFieldKind::real) return bits_of(static_cast<float>(value));
  if (!(value >= -0x1p31 && value < 0x1p32)) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
}

// Numbers and who says them.
struct Told {
  std::vector<double> numbers;
  std::string by;
  bool stated = true;
};
using MaybeTold = std::optional<Told>;

class HeaderOfModel {
 public:
  HeaderOfModel(const Gguf& model, const HeaderLayout& layout)
      : model_(model), arch_(model.architecture()), id_(layout.id) {}

  // Settings of the context until some day, and what only the model files of the time had.
  static bool is_told(const HeaderLayout& layout, const HeaderField& field) {
    if (field.name == "rms_eps") return layout.id >= HeaderStruct::g48;
    if (field.name == "rope_freq_base" || field.name == "rope_freq_scale")
      return layout.id >= HeaderStruct::s52;
    const auto is_field = [&](const FieldKey& known) { return known.field == field.name; };
    return special(field.name) != nullptr || std::ranges::any_of(field_keys, is_field);
  }

  MaybeTold tell(const HeaderField& field) const {
    if (const auto teller = special(field.name)) return (this->*teller)();
    for (const FieldKey& known : field_keys)
      if (known.field == field.name) return of_key(known);
    return std::nullopt;
  }

 private:
  using Teller = MaybeTold (HeaderOfModel::*)() const;

  static Teller special(const std::string& name) {
    using Self = HeaderOfModel;
    static const std::vector<std::pair<std::string_view, Teller>> tellers = {
        {"n_vocab", &Self::vocabulary},
        {"n_vocab_type", &Self::token_types},
        {"n_head_kv", &Self::heads_kv},
        {"n_rot", &Self::rotated},
        {"n_embd_head_k", &Self::head_k},
        {"n_embd_head_v", &Self::head_v},
        {"norm_eps", &Self::norm_eps},
        {"rms_eps", &Self::rms_eps},
        {"rope_freq_base", &Self::rope_base},
        {"rope_freq_scale", &Self::rope_scale},
        {"n_yarn_orig_ctx", &Self::yarn_context},
        {"rope_scaling_type", &Self::rope_scaling},
        {"rope_bits", &Self::rope_bits},
        {"rope_type", &Self::rope_type},
        {"max_alibi_bias", &Self::alibi},
        {"need_kq_pos", &Self::needs_alibi},
        {"has_softcap", &Self::softcap},
        {"n_swa", &Self::window},
        {"vocab_only", &Self::nothing}};
    for (const auto& [field, teller] : tellers)
      if (field == name) return teller;
    return nullptr;
  }

  std::string full(std::string_view key) const { return arch_ + "." + std::string(key); }

  std::optional<double> number(const std::string& key) const {
    if (const auto value = model_.f64(key)) return value;
    if (const auto value = model_.i64(key)) return static_cast<double>(*value);
    if (const auto value = model_.boolean(key)) return *value ? 1 : 0;
    return std::nullopt;
  }

  MaybeTold at(std::string_view key) const {
    const std::string name = full(key);
    if (const auto value = number(name)) return Told{{*value}, name, true};
    const auto list = model_.i32s(name);
    if (!list || list->empty()) return std::nullopt;
    return Told{{list->begin(), list->end()}, name, true};
  }

  static Told absent(double value) { return {{value}, {}, false}; }

  MaybeTold or_absent(const MaybeTold& told, double value) const {
    return told ? told : absent(value);
  }

  MaybeTold of_key(const FieldKey& known) const {
    const MaybeTold told = at(known.key);
    return told || !known.absent ? told : absent(*known.absent);
  }

  MaybeTold vocabulary() const {
    const auto tokens = model_.values().find("tokenizer.ggml.tokens");
    if (tokens != model_.values().end())
      return Told{{static_cast<double>(tokens->second.count)}, tokens->first, true};
    return at("vocab_size");
  }

  MaybeTold token_types() const {
    const std::string key = "tokenizer.ggml.token_type_count";
    const auto value = number(key);
    return value ? Told{{*value}, key, true} : absent(0);
  }

  MaybeTold heads_kv() const {
    if (MaybeTold told = at("attention.head_count_kv")) return told;
    MaybeTold heads = at("attention.head_count");
    if (heads) heads->stated = false;
    return heads;
  }

  // Elements of the embedding for each head of the first layer.
  MaybeTold head_width() const {
    const MaybeTold width = at("embedding_length");
    const MaybeTold heads = at("attention.head_count");
    if (!width || !heads) return std::nullopt;
    const auto n = static_cast<std::uint32_t>(heads->numbers.front());
    return absent(n == 0 ? 0 : static_cast<std::uint32_t>(width->numbers.front()) / n);
  }

  MaybeTold or_head_width(std::string_view key) const {
    const MaybeTold told = at(key);
    return told ? told : head_width();
  }
  MaybeTold rotated() const { return or_head_width("rope.dimension_count"); }
  MaybeTold head_k() const { return or_head_width("attention.key_length"); }
  MaybeTold head_v() const { return or_head_width("attention.value_length"); }

  // A model has one of two, and the other one stayed 0.
  MaybeTold epsilon(std::string_view key, std::string_view other) const {
    if (MaybeTold told = at(key)) return told;
    return at(other) ? MaybeTold(absent(0)) : std::nullopt;
  }
  MaybeTold norm_eps() const {
    return epsilon("attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon");
  }
  MaybeTold rms_eps() const {
    return epsilon("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon");
  }

  MaybeTold rope_base() const { return or_absent(at("rope.freq_base"), 10000); }

  MaybeTold rope_scale() const {
    MaybeTold told = id_ < HeaderStruct::s68 ? std::nullopt : at("rope.scaling.factor");
    if (!told) told = at("rope.scale_linear");
    if (!told) return absent(1);
    const auto factor = static_cast<float>(told->numbers.front());
    told->numbers = {factor == 0 ? 1.0F : 1.0F / factor};
    return told;
  }

  MaybeTold yarn_context() const {
    if (MaybeTold told = at("rope.scaling.original_context_length")) return told;
    MaybeTold context = at("context_length");
    if (context) context->stated = false;
    return context;
  }

  MaybeTold rope_scaling() const {
    static constexpr std::array<std::string_view, 3> names = {"none", "linear", "yarn"};
    const std::string key = full("rope.scaling.type");
    const auto name = model_.string(key);
    if (!name) return absent(1);
    const auto* found = std::ranges::find(names, *name);
    if (found == names.end()) return std::nullopt;
    return Told{{static_cast<double>(found - names.begin())}, key, true};
  }

  // Three bits of the type, and one for models that were trained on with it.
  MaybeTold rope_bits() const {
    MaybeTold told = rope_scaling();
    const MaybeTold tuned = at("rope.scaling.finetuned");
    if (told && tuned && tuned->numbers.front() != 0) told->numbers.front() += 8;
    return told;
  }

  MaybeTold rope_type() const {
    for (const RopeNumber& known : rope_numbers)
      if (known.arch == arch_) return absent(known.number);
    return std::nullopt;
  }

  MaybeTold alibi() const {
    if (MaybeTold told = at("attention.max_alibi_bias")) return told;
    const bool by_name = std::ranges::find(alibi_by_name, arch_) != alibi_by_name.end();
    return by_name ? std::nullopt : MaybeTold(absent(0));
  }

  MaybeTold needs_alibi() const {
    const MaybeTold told = alibi();
    if (!told) return std::nullopt;
    return absent(told->numbers.front() > 0 ? 1 : 0);
  }

  MaybeTold softcap() const { return absent(arch_ == "gemma2" ? 1 : 0); }

  MaybeTold window() const {
    if (std::ranges::find(windowed, arch_) != windowed.end()) return at("attention.sliding_window");
    return at("attention.sliding_window") ? std::nullopt : MaybeTold(absent(0));
  }

  MaybeTold nothing() const { return absent(0); }

  const Gguf& model_;
  std::string arch_;
  HeaderStruct id_;
};

}  // namespace

bool is_of_models(const HeaderLayout& layout, const HeaderField& field) {
  return HeaderOfModel::is_told(layout, field);
}

std::optional<FieldValue> value_in_model(const Gguf& model, const HeaderLayout& layout,
                                         const HeaderField& field) {
  if (!is_of_models(layout, field)) return std::nullopt;
  MaybeTold told = HeaderOfModel(model, layout).tell(field);
  if (!told) return std::nullopt;
  FieldValue value{{}, std::move(told->by), told->stated};
  for (const double number : told->numbers) {
    const auto word = word_of(field.kind, number);
    if (!word) return std::nullopt;
    value.words.push_back(*word);
  }
  const auto other = [&](std::uint32_t word) { return word != value.words.front(); };
  // Builds whose struct has no array did not read lists.
  if (field.count == 1 && std::ranges::any_of(value.words, other)) return std::nullopt;
  if (field.count == 1) value.words.resize(1);
  return value;
}

}  // namespace kvtool::convert_steps
