#include "format/header_struct.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "format/part.h"

namespace kvtool::format {
namespace {

using Fields = std::vector<HeaderField>;

// "n_vocab:u", or "n_head:u256" for an array.
HeaderField field_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  HeaderField field{text.substr(0, colon), static_cast<HeaderFieldKind>(text[colon + 1])};
  if (colon + 2 < text.size())
    field.count = static_cast<std::uint32_t>(std::stoul(text.substr(colon + 2)));
  return field;
}

Fields::iterator find(Fields& fields, const std::string& name) {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const HeaderField& f) { return f.name == name; });
  if (at == fields.end()) throw std::logic_error("header struct without " + name);
  return at;
}

// Says how a layout differs from the one before it.
class Change {
 public:
  explicit Change(const Fields& before) : fields_(before) {}
  Change& after(const std::string& name, std::initializer_list<const char*> added) {
    return insert(find(fields_, name) + 1, added);
  }
  Change& before(const std::string& name, std::initializer_list<const char*> added) {
    return insert(find(fields_, name), added);
  }
  Change& at_end(std::initializer_list<const char*> added) { return insert(fields_.end(), added); }
  Change& without(std::initializer_list<const char*> names) {
    for (const char* name : names) fields_.erase(find(fields_, name));
    return *this;
  }
  Fields done() { return fields_; }

 private:
  Change& insert(Fields::iterator at, std::initializer_list<const char*> added) {
    for (const char* text : added) at = fields_.insert(at, field_of(text)) + 1;
    return *this;
  }
  Fields fields_;
};

Fields list(std::initializer_list<const char*> texts) { return Change({}).at_end(texts).done(); }

bool is_byte(HeaderFieldKind kind) {
  return kind == HeaderFieldKind::boolean || kind == HeaderFieldKind::bits;
}

std::uint32_t rounded_to_words(std::uint32_t bytes) { return (bytes + 3) / 4 * 4; }

// Gives every field its place as a C++ compiler does; the answer is the size.
std::uint32_t lay_out(Fields& fields) {
  std::uint32_t at = 0;
  for (HeaderField& field : fields) {
    if (!is_byte(field.kind)) at = rounded_to_words(at);
    field.offset = at;
    at += field.bytes();
  }
  return rounded_to_words(at);
}

class Table {
 public:
  void add(HeaderStruct id, const char* name, const char* from, const char* until, Fields fields) {
    HeaderLayout layout{id, name, from, until, 0, std::move(fields)};
    layout.size = lay_out(layout.fields);
    layouts_.push_back(std::move(layout));
  }
  [[nodiscard]] Change last() const { return Change(layouts_.back().fields); }
  std::vector<HeaderLayout> done() { return std::move(layouts_); }

 private:
  std::vector<HeaderLayout> layouts_;
};

// The builds before GGUF, and the first with it.
void add_first(Table& t) {
  using enum HeaderStruct;
  t.add(j32, "j32", "2023-04-28", "2023-07-14",
        list({"n_vocab:u", "n_ctx:u", "n_embd:u", "n_mult:u", "n_head:u", "n_layer:u", "n_rot:u",
              "ftype:u"}));
  t.add(j40, "j40", "2023-07-15", "2023-07-22",
        t.last().before("ftype", {"rope_freq_base:f", "rope_freq_scale:f"}).done());
  t.add(j48, "j48", "2023-07-23", "2023-07-23",
        t.last().after("n_head", {"n_head_kv:u"}).after("n_rot", {"ffn_mult:f"}).done());
  t.add(j52, "j52", "2023-07-24", "2023-08-21", t.last().after("ffn_mult", {"rms_eps:f"}).done());
  t.add(g48, "g48", "2023-08-21", "2023-08-23",
        list({"n_vocab:u", "n_ctx_train:u", "n_ctx:u", "n_embd:u", "n_head:u", "n_head_kv:u",
              "n_layer:u", "n_rot:u", "n_ff:u", "rms_eps:f", "rope_freq_base:f",
              "rope_freq_scale:f"}));
  t.add(g52, "g52", "2023-08-23", "2023-09-28", t.last().before("rms_eps", {"norm_eps:f"}).done());
}

// Until the cell list ended at the last cell in use.
void add_second(Table& t) {
  using enum HeaderStruct;
  t.add(s52, "s52", "2023-09-28", "2023-10-10",
        t.last().without({"n_ctx"}).before("n_vocab", {"vocab_only:B"}).done());
  t.add(s60, "s60", "2023-10-10", "2023-11-01",
        t.last().at_end({"clamp_kqv:f", "max_alibi_bias:f"}).done());
  t.add(s68, "s68", "2023-11-01", "2023-12-13",
        t.last().after("rope_freq_scale", {"n_yarn_orig_ctx:u", "rope_bits:b"}).done());
  t.add(s76, "s76", "2023-12-13", "2024-01-02",
        t.last().after("n_ff", {"n_expert:u", "n_expert_used:u"}).done());
  t.add(s84a, "s84a", "2024-01-02", "2024-02-03",
        t.last().before("n_ff", {"n_embd_head_k:u", "n_embd_head_v:u"}).done());
  t.add(s84b, "s84b", "2024-02-03", "2024-02-11",
        t.last()
            .after("vocab_only", {"rope_finetuned:B"})
            .after("rope_bits", {"rope_scaling_type:i"})
            .without({"rope_bits"})
            .done());
  t.add(s92, "s92", "2024-02-11", "2024-02-15",
        t.last()
            .after("n_expert_used", {"n_vocab_type:u"})
            .at_end({"causal_attn:B", "pooling_layer:B"})
            .done());
  t.add(s96, "s96", "2024-02-15", "2024-02-25",
        t.last()
            .without({"pooling_layer"})
            .at_end({"need_kq_pos:B", "pooling_type:u"})
            .done());
  t.add(s100a, "s100a", "2024-02-25", "2024-03-03", t.last().at_end({"rope_type:i"}).done());
  t.add(s100b, "s100b", "2024-03-03", "2024-03-08",
        t.last().without({"rope_scaling_type"}).at_end({"rope_scaling_type:i"}).done());
}

void add_third(Table& t) {
  using enum HeaderStruct;
  t.add(s116, "s116", "2024-03-08", "2024-03-15",
        t.last()
            .after("n_yarn_orig_ctx", {"ssm_d_conv:u", "ssm_d_inner:u", "ssm_d_state:u", "ssm_dt_rank:u"})
            .done());
  t.add(s120, "s120", "2024-03-15", "2024-05-21",
        t.last().after("max_alibi_bias", {"logit_scale:f"}).done());
  t.add(s124, "s124", "2024-05-21", "2024-05-28",
        t.last()
            .after("rope_finetuned", {"use_par_res:B"})
            .before("rope_freq_base", {"rope_attn_factor:f"})
            .done());
  t.add(s152, "s152", "2024-05-28", "2024-06-17",
        t.last()
            .after("n_vocab_type", {"n_layer_dense_lead:u", "n_lora_q:u", "n_lora_kv:u", "n_ff_exp:u",
                                    "n_expert_shared:u", "expert_weights_scale:f"})
            .after("n_yarn_orig_ctx", {"rope_yarn_log_mul:f"})
            .done());
  t.add(s156, "s156", "2024-06-17", "2024-06-29",
        t.last().after("n_ff_exp", {"n_ff_shexp:u"}).done());
  t.add(s164, "s164", "2024-06-29", "2024-07-01",
        t.last()
            .after("rms_eps", {"attn_softcap:f", "final_softcap:f"})
            .after("need_kq_pos", {"has_softcap:B"})
            .done());
  t.add(s168, "s168", "2024-07-01", "2024-07-04", t.last().after("n_rot", {"n_swa:u"}).done());
  t.add(s176, "s176", "2024-07-04", "2024-07-04",
        t.last()
            .after("n_vocab_type", {"n_rel_attn_bkts:u"})
            .before("pooling_type", {"dec_start_token:i"})
            .done());
}

Fields with_arrays(Change change, const char* heads, const char* heads_kv, const char* ff) {
  return change.without({"n_head", "n_head_kv", "n_ff"})
      .after("n_rel_attn_bkts", {heads, heads_kv, ff})
      .done();
}

std::vector<HeaderLayout> make_layouts() {
  Table t;
  add_first(t);
  add_second(t);
  add_third(t);
  t.add(HeaderStruct::s3236, "s3236", "2024-07-04", "2024-07-19",
        with_arrays(t.last(), "n_head:u256", "n_head_kv:u256", "n_ff:u256"));
  t.add(HeaderStruct::s6308, "s6308", "2024-07-19", "2024-07-28",
        with_arrays(t.last(), "n_head:u512", "n_head_kv:u512", "n_ff:u512"));
  return t.done();
}

// The values of a struct by name.
class Values {
 public:
  Values(HeaderStruct id, std::span<const std::byte> bytes)
      : layout_(header_layout(id)), bytes_(bytes) {}

  // Element `index` of a field; `otherwise` where the layout lacks it.
  [[nodiscard]] std::uint32_t number(const char* name, std::uint32_t otherwise = 0,
                                     std::uint32_t index = 0) const {
    for (const HeaderField& field : layout_.fields)
      if (field.name == name && !is_byte(field.kind)) return word(field, index);
    return otherwise;
  }
  [[nodiscard]] std::uint32_t word(const HeaderField& field, std::uint32_t index) const {
    std::uint32_t value = 0;
    const std::uint32_t at = std::min(index, field.count - 1) * 4;
    std::memcpy(&value, bytes_.data() + field.offset + at, sizeof value);
    return value;
  }
  [[nodiscard]] const HeaderLayout& layout() const { return layout_; }

 private:
  const HeaderLayout& layout_;
  std::span<const std::byte> bytes_;
};

std::string flaw_of_real(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  const float size = std::fabs(value);
  if (value == 0 || (std::isfinite(value) && size >= 1e-12F && size <= 1e9F)) return {};
  return fmt::format("expected 0 or a usual real number, found {}", value);
}

std::string flaw_of_word(const HeaderField& field, std::uint32_t value) {
  switch (field.kind) {
    case HeaderFieldKind::real: return flaw_of_real(value);
    case HeaderFieldKind::signed_number:
      if (const auto number = static_cast<std::int32_t>(value); number < -1 || number > 1 << 22)
        return fmt::format("expected a small number, found {}", number);
      return {};
    default:
      if (value > 1U << 24U) return fmt::format("expected less than 16777217, found {}", value);
      return {};
  }
}

std::string flaw_of_byte(const HeaderField& field, std::byte value) {
  const auto number = std::to_integer<unsigned>(value);
  const unsigned most = field.kind == HeaderFieldKind::boolean ? 1 : 15;
  return number <= most ? std::string() : fmt::format("expected at most {}, found {}", most, number);
}

// Counts without which there is no model.
std::string flaw_of_counts(const Values& values) {
  if (values.number("n_vocab") == 0 || values.number("n_embd") == 0) return "expected 1 or more, found 0";
  const std::uint32_t layers = values.number("n_layer");
  if (layers == 0 || layers > most_layers) return fmt::format("{} layers", layers);
  if (values.number("ssm_d_inner") > 0) return {};
  const std::uint32_t heads = values.number("n_head");
  const std::uint32_t heads_kv = values.number("n_head_kv", heads);
  if (heads == 0 || heads_kv == 0) return "a model without heads";
  return heads % heads_kv == 0 ? std::string() : fmt::format("{} heads share {}", heads, heads_kv);
}

}  // namespace

std::uint32_t HeaderField::bytes() const { return is_byte(kind) ? 1 : 4 * count; }

const std::vector<HeaderLayout>& header_layouts() {
  static const std::vector<HeaderLayout> layouts = make_layouts();
  return layouts;
}

const HeaderLayout& header_layout(HeaderStruct id) {
  for (const HeaderLayout& layout : header_layouts())
    if (layout.id == id) return layout;
  throw std::logic_error("no such header struct");
}

HeaderFacts facts_of(HeaderStruct id, std::span<const std::byte> bytes) {
  const Values v(id, bytes);
  HeaderFacts facts;
  facts.n_vocab = v.number("n_vocab");
  facts.n_ctx = v.number("n_ctx");
  facts.n_embd = v.number("n_embd");
  facts.n_head = v.number("n_head");
  facts.n_head_kv = v.number("n_head_kv", facts.n_head);
  const std::uint64_t inner = v.number("ssm_d_inner");
  const std::uint64_t conv = std::max<std::uint64_t>(1, v.number("ssm_d_conv", 1));
  facts.recurrent = inner > 0;
  const std::uint32_t head = facts.n_head == 0 ? 0 : facts.n_embd / facts.n_head;
  for (std::uint32_t l = 0; l < v.number("n_layer"); ++l) {
    const std::uint64_t heads_kv = v.number("n_head_kv", v.number("n_head", 0, l), l);
    facts.k_width.push_back(v.number("n_embd_head_k", head) * heads_kv + (conv - 1) * inner);
    facts.v_width.push_back(v.number("n_embd_head_v", head) * heads_kv +
                            v.number("ssm_d_state") * inner);
  }
  return facts;
}

HeaderFlaw flaw_of_header(HeaderStruct id, std::span<const std::byte> bytes) {
  const Values values(id, bytes);
  for (const HeaderField& field : values.layout().fields) {
    std::string problem;
    if (is_byte(field.kind)) problem = flaw_of_byte(field, bytes[field.offset]);
    for (std::uint32_t i = 0; problem.empty() && !is_byte(field.kind) && i < field.count; ++i)
      problem = flaw_of_word(field, values.word(field, i));
    if (!problem.empty()) return {field.offset, field.name, problem};
  }
  return {0, "n_vocab", flaw_of_counts(values)};
}

}  // namespace kvtool::format
