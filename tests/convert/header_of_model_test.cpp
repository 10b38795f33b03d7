// The header struct of sessions 1 to 7 from a model file and options: every genuine session becomes a
// session of today, which has none, and goes back with nothing of the old file but what its sidecar and
// the words about its model say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "convert/generator.h"
#include "convert/old_model.h"
#include "convert/old_sessions.h"
#include "format/dialect.h"
#include "format/header_struct.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t seed = 42;  // of all processes that wrote them

struct Genuine {
  Session session;
  Json sidecar;
};

const std::vector<Genuine>& genuine() {
  static const std::vector<Genuine> all = [] {
    std::vector<Genuine> list;
    const auto wanted = [](const Dump& dump) {
      // Of a cache without K and V a session of today does not even say the layers.
      return dump.dialect.version > 0 && dump.dialect.version < 8 && !dump.dialect.scrambled &&
             main_stream(dump).cells.size() > 0;
    };
    for (Session& session : sessions_where(wanted)) {
      const auto sidecar = find_sidecar(session.path);
      if (sidecar) list.push_back({std::move(session), sidecar->json});
    }
    return list;
  }();
  return all;
}

// What models do not tell: settings of the contexts, and what only the model files of spring 2023 had.
std::map<std::string, std::string> fields_of(const Dump& dump) {
  const HeaderStruct header = dump.dialect.header;
  std::map<std::string, std::string> fields;
  if (header < HeaderStruct::g48) fields = {{"n_mult", "32"}, {"ftype", "0"}};
  if (header > HeaderStruct::j32 && header < HeaderStruct::s52) {
    fields["rope_freq_base"] = "10000";
    fields["rope_freq_scale"] = "1";
  }
  if (header == HeaderStruct::j48 || header == HeaderStruct::j52) fields["ffn_mult"] = "1";
  if (header == HeaderStruct::j52) fields["rms_eps"] = "5e-06";
  const Body body = dump.dialect.body;
  if (body > Body::k_then_v && body < Body::output_ids)
    fields["pool_size"] = std::to_string(dump.state.old.pool_bytes);
  const std::uint64_t logits = dump.outputs.logits.size + dump.logits_filler.size;
  if (body < Body::lean) fields["logits_capacity"] = std::to_string(logits / sizeof(float));
  return fields;
}

std::shared_ptr<const Gguf> model_of(const Genuine& g, const OldModelChange& change = {}) {
  return old_model(g.sidecar["model"].get<std::string>(), change);
}

// As a session of today.
DumpPointer modern(const Genuine& g) {
  Target target;
  target.era = era_of_loader("10/3");
  target.model = shape_of_model(*model_of(g), *target.era);
  ConvertOptions options;
  options.drop = {"outputs", "cells"};
  const ByteVector bytes = rewritten(convert(g.session.dump, target, options).plan);
  return std::make_shared<Dump>(open_dump(memory_source("modern", bytes)));
}

Target target_of(const Genuine& g) {
  Target target;
  target.container = Container::session;
  target.era = old_eras().at(g.session.dump->dialect.version);
  target.n_ctx = g.sidecar.value("kv_size", g.sidecar["n_ctx"].get<std::uint32_t>());
  if (g.session.dump->dialect.body == Body::v_flag)
    target.flash_attention = main_stream(*g.session.dump).v_transposed == 0;
  return target;
}

ConvertOptions options_of(const Genuine& g, const std::shared_ptr<const Gguf>& model) {
  ConvertOptions options;
  options.model = model;
  options.fields = fields_of(*g.session.dump);
  options.seed = seed;
  options.rotation = StatedRotation::none;  // of blocks: nothing rotated in those years
  options.layout = format::name_of(g.session.dump->dialect);
  return options;
}

std::vector<std::byte> header_of(const Genuine& g, const DumpPointer& from,
                                 const OldModelChange& change) {
  return convert(from, target_of(g), options_of(g, model_of(g, change))).plan.target.header;
}

// The genuine file without its logits, which the session of today could not keep.
ByteVector without_outputs(const Genuine& g) {
  ConvertOptions options;
  options.strip = {"outputs"};
  return rewritten(convert(g.session.dump, {}, options).plan);
}

// Nothing of it is lost on the way: no unused cells, none without K and V, no odd count of them.
bool keeps_all(const Dump& dump) {
  const CellTable& cells = main_stream(dump).cells;
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (cells.sequences(c).empty()) return false;
  return main_stream(dump).beyond.empty() && dump.state.old.used_surplus == 0;
}

TEST(HeaderOfModel, GenuineSessionsComeBack) {
  std::map<std::string, std::size_t> structs;
  std::size_t whole = 0;
  for (const Genuine& g : genuine()) {
    SCOPED_TRACE(g.session.name);
    const Dump& dump = *g.session.dump;
    const DumpPointer middle = modern(g);
    const Conversion back = convert(middle, target_of(g), options_of(g, model_of(g)));
    EXPECT_EQ(back.plan.target.header, dump.header);
    EXPECT_EQ(back.plan.target.state.old.context, target_of(g).n_ctx);
    ++structs[format::header_layout(dump.dialect.header).name];
    if (!keeps_all(dump)) continue;
    EXPECT_TRUE(rewritten(back.plan) == without_outputs(g));
    ++whole;
  }
  fmt::print("{} header structs of {} layouts, {} whole files\n", genuine().size(), structs.size(),
             whole);
  EXPECT_GE(structs.size(), 20U);
  EXPECT_GE(whole, 20U);
}

// Offsets at which two structs differ.
std::set<std::size_t> differences(const std::vector<std::byte>& a,
                                  const std::vector<std::byte>& b) {
  std::set<std::size_t> offsets;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    if (i >= a.size() || i >= b.size() || a[i] != b[i]) offsets.insert(i);
  return offsets;
}

// Some byte differs, and all that do are in this field.
void expect_only(const Genuine& g, const std::set<std::size_t>& offsets, const std::string& name) {
  EXPECT_FALSE(offsets.empty());
  for (const auto& field : format::header_layout(g.session.dump->dialect.header).fields)
    for (const std::size_t at : offsets)
      if (field.name == name) {
        EXPECT_TRUE(at >= field.offset && at < field.offset + field.bytes()) << name << ' ' << at;
      }
}

TEST(HeaderOfModel, AnotherModelDiffersInItsField) {
  std::set<HeaderStruct> seen;
  for (const Genuine& g : genuine()) {
    const HeaderStruct header = g.session.dump->dialect.header;
    if (g.sidecar["model"] == "openelm.gguf" || !seen.insert(header).second) continue;
    SCOPED_TRACE(g.session.name);
    const DumpPointer middle = modern(g);
    expect_only(g,
                differences(header_of(g, middle, {.rope_dimensions = 8}), g.session.dump->header),
                "n_rot");
    if (header < HeaderStruct::g48) continue;
    expect_only(g, differences(header_of(g, middle, {.feed_forward = 80}), g.session.dump->header),
                "n_ff");
  }
  EXPECT_GE(seen.size(), 20U);
}

TEST(HeaderOfModel, GeneratorsBeginAsLlamaCppSeededThem) {
  const std::string text = convert_steps::seeded_generator(seed);
  for (const Genuine& g : genuine()) {
    const ByteVector genuine_text =
        read_extent(*g.session.dump, g.session.dump->rng.offset, g.session.dump->rng.size);
    ASSERT_EQ(genuine_text.size(), text.size()) << g.session.name;
    EXPECT_EQ(std::memcmp(genuine_text.data(), text.data(), text.size()), 0) << g.session.name;
  }
  EXPECT_NE(convert_steps::seeded_generator(seed + 1), text);
}

// --- refusals

const Genuine& of_struct(HeaderStruct header) {
  for (const Genuine& g : genuine())
    if (g.session.dump->dialect.header == header && g.sidecar["type_k"] == "f16" &&
        g.sidecar["model"] != "mamba.gguf")
      return g;
  throw std::logic_error("no session with this header struct");
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
}

TEST(HeaderOfModel, AllThatIsMissingIsNamedAtOnce) {
  const Genuine& g = of_struct(HeaderStruct::j52);
  Target target = target_of(g);
  target.n_ctx.reset();
  ConvertOptions options = options_of(g, model_of(g));
  options.fields.clear();
  options.seed.reset();
  const std::string refusal = refusal_of(modern(g), target, options);
  expect_words(refusal, {"n_ctx, n_mult, ffn_mult, rms_eps, rope_freq_base, rope_freq_scale, ftype",
                         "--ctx-size N", "--set n_mult=N", "--set ftype=N", "random generator",
                         "--seed N", "--set logits_capacity=N", "--like REF"});
  EXPECT_EQ(refusal.find("n_embd"), std::string::npos) << refusal;
}

TEST(HeaderOfModel, EachMissingFieldIsRefused) {
  const Genuine& g = of_struct(HeaderStruct::j52);
  const DumpPointer middle = modern(g);
  const ConvertOptions all = options_of(g, model_of(g));
  EXPECT_EQ(refusal_of(middle, target_of(g), all), "not refused");
  for (const auto& [name, value] : all.fields) {
    ConvertOptions options = all;
    options.fields.erase(name);
    expect_words(refusal_of(middle, target_of(g), options), {fmt::format("--set {}=", name)});
  }
}

TEST(HeaderOfModel, WithoutAModelItIsAskedFor) {
  const Genuine& g = of_struct(HeaderStruct::s120);
  expect_words(refusal_of(modern(g), target_of(g), options_of(g, nullptr)),
               {"--model MODEL.gguf", "s120"});
}

TEST(HeaderOfModel, ContradictionsNameBoth) {
  const Genuine& g = of_struct(HeaderStruct::s120);
  const DumpPointer middle = modern(g);
  ConvertOptions options = options_of(g, model_of(g));
  options.fields["n_ff"] = "97";
  expect_words(refusal_of(middle, target_of(g), options),
               {"--set n_ff=97", "llama.feed_forward_length of made.gguf is 96"});
  options = options_of(g, model_of(g, {.feed_forward = 80}));
  expect_words(refusal_of(g.session.dump, target_of(g), options),
               {"n_ff is 96 in", g.session.name, "llama.feed_forward_length of made.gguf is 80"});
}

TEST(HeaderOfModel, OptionsChangeAReference) {
  const Genuine& g = of_struct(HeaderStruct::s120);
  ConvertOptions options;
  options.like = g.session.dump;
  options.fields["logit_scale"] = "0.5";
  const Conversion made = convert(modern(g), target_like(*g.session.dump), options);
  expect_only(g, differences(made.plan.target.header, g.session.dump->header), "logit_scale");
  EXPECT_NE(std::find(made.changes.begin(), made.changes.end(), "logit_scale: 0 -> 0.5"),
            made.changes.end());
}

TEST(HeaderOfModel, BadFieldsAreErrorsOfUse) {
  const Genuine& g = of_struct(HeaderStruct::s120);
  const DumpPointer middle = modern(g);
  const auto with = [&](const char* name, const char* value) {
    ConvertOptions options = options_of(g, model_of(g));
    options.fields[name] = value;
    return refusal_of(middle, target_of(g), options);
  };
  expect_words(with("n_mult", "1"), {"--set n_mult", "has no such field", "n_embd_head_k"});
  expect_words(with("logits_capacity", "1"), {"has no such field"});
  expect_words(with("logit_scale", "x"), {"--set logit_scale=x", "a real number"});
  expect_words(with("n_rot", "-1"), {"--set n_rot=-1", "a number"});
  expect_words(with("n_rot", "1,2"), {"--set n_rot=1,2", "a number"});
  expect_words(with("causal_attn", "2"), {"--set causal_attn=2", "0 or 1"});
  expect_words(with("rope_type", "9999999"), {"of no model", "rope_type"});
}

}  // namespace
}  // namespace kvtool::test
