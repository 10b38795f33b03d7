#include "cli/target_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "kvtool/error.h"
#include "kvtool/open.h"

namespace kvtool::cli {
namespace {

constexpr const char* group = "Target";

// The types that llama.cpp lets a cache have.
std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::q8_0, ElementType::q4_0,
        ElementType::q4_1, ElementType::iq4_nl, ElementType::q5_0, ElementType::q5_1})
    names.emplace_back(info(type).name);
  return names;
}

std::optional<ElementType> type_called(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return find_element_type(std::string_view(name))->type;
}

// "ggsn6.s164" -> "ggsn:6": what follows the version does not matter to anyone but `convert`.
std::string without_layout(const std::string& to) {
  if (layout_in(to).empty()) return to;
  return fmt::format("{}:{}", to.substr(0, 4), to.substr(4, to.find('.') - 4));
}

// "ggsq" or "ggsq:4", or a layout.
void take_version(const std::string& given, Target& target) {
  const std::string to = without_layout(given);
  const std::string magic = to.substr(0, to.find(':'));
  if (magic != "ggsn" && magic != "ggsq")
    throw Error(ErrorKind::usage, fmt::format("--to {}: not ggsn, ggsq, ggsn:VERSION, "
                                              "ggsq:VERSION or the name of a layout",
                                              given));
  target.container = magic == "ggsn" ? Container::session : Container::slot;
  if (magic.size() == to.size()) return;
  std::uint32_t version = 0;
  const char* end = to.data() + to.size();
  const auto [stop, error] = std::from_chars(to.data() + magic.size() + 1, end, version);
  if (error != std::errc{} || stop != end)
    throw Error(ErrorKind::usage, fmt::format("--to {}: the version is not a number", given));
  // A loader says more than a version can, so it decides where the version leaves a choice.
  if (!target.era) {
    target.era = era_of_version(*target.container, version);
    return;
  }
  const bool session = target.container == Container::session;
  const std::uint32_t of_loader = session ? target.era->session_version : target.era->slot_version;
  if (of_loader != version)
    throw Error(ErrorKind::usage,
                fmt::format("--to {}: {} has {}:{}", given, target.era->name, magic, of_loader));
}

void take_model(const std::string& path, Target& target) {
  const Gguf model = open_gguf(open_source(path));
  target.model = shape_of_model(model, target.era.value_or(eras().back()));
  target.rotation.clear();  // they follow from the model and the types again
}

void take_settings(const TargetOptions& options, Target& target) {
  if (options.ctx_size) target.n_ctx = options.ctx_size;
  if (options.parallel) target.parallel = options.parallel;
  if (options.unified) target.unified = options.unified;
  if (options.parallel || options.unified) target.n_stream.reset();
  if (const auto type = type_called(options.type_k)) target.type_k = type;
  if (const auto type = type_called(options.type_v)) target.type_v = type;
  if (!options.type_k.empty() || !options.type_v.empty() || options.no_rotation)
    target.rotation.clear();
  if (!options.flash_attention.empty()) target.flash_attention = options.flash_attention == "on";
  if (options.swa_full) target.swa_full = true;
  if (options.no_rotation) target.rotation_disabled = true;
}

}  // namespace

bool TargetOptions::any() const {
  return ctx_size || parallel || unified || swa_full || no_rotation ||
         !(to.empty() && loader.empty() && type_k.empty() && type_v.empty() &&
           flash_attention.empty() && model.empty() && like.empty());
}

std::string layout_in(const std::string& to) {
  return to.find(':') == std::string::npos && to.find('.') != std::string::npos ? to
                                                                                : std::string();
}

void add_target(CLI::App& verb, TargetOptions& options, InputOptions& input) {
  for (const char* name : {"--model", "--like"}) replace_option(verb, name);
  const auto text = [&](const char* name, std::string& value, const char* what, const char* type) {
    return verb.add_option(name, value, what)->type_name(type)->group(group);
  };
  text("--to", options.to,
       "kind and version of file, e.g. ggsq:4, or an old layout, e.g. ggsn6.s164",
       "KIND[:VERSION]");
  text("--loader,--for", options.loader,
       "llama.cpp by release, build, date or era: 0.7.0, b10256, 2026-05; or ik_llama.cpp",
       "WHICH");
  text("--like", options.like, "everything as in this dump, which the target saved itself", "REF")
      ->each(handing_on_to(input.like));
  text("-m,--model", options.model, "shapes from this model file", "GGUF")
      ->each(handing_on_to(input.model));
  verb.add_option("-c,--ctx-size", options.ctx_size, "size of its context in tokens")
      ->type_name("N")
      ->group(group);
  verb.add_option("--parallel", options.parallel, "its number of sequences (-np)")
      ->type_name("N")
      ->group(group);
  // Not one flag with a negation: that would set the value even when neither is given.
  verb.add_flag_callback(
          "--kv-unified", [&options] { options.unified = true; },
          "one cache for all its sequences (-kvu)")
      ->group(group);
  verb.add_flag_callback(
          "--no-kv-unified", [&options] { options.unified = false; },
          "one stream for each of its sequences (-no-kvu)")
      ->group(group);
  text("--cache-type-k", options.type_k, "element type of K (-ctk)", "TYPE")
      ->check(CLI::IsMember(type_names()));
  text("--cache-type-v", options.type_v, "element type of V (-ctv)", "TYPE")
      ->check(CLI::IsMember(type_names()));
  text("--flash-attn", options.flash_attention, "on: V in rows; off: V transposed (-fa)", "on|off")
      ->check(CLI::IsMember({"on", "off"}));
  verb.add_flag("--swa-full", options.swa_full, "its window caches are as large as the others")
      ->group(group);
  verb.add_flag("--no-rotation", options.no_rotation, "it runs with LLAMA_ATTN_ROT_DISABLE=1")
      ->group(group);
}

std::shared_ptr<const Dump> open_like(const TargetOptions& options) {
  if (options.like.empty()) return nullptr;
  return std::make_shared<const Dump>(open_dump(options.like));
}

Target resolve(const TargetOptions& options) { return resolve(options, open_like(options).get()); }

Target resolve(const TargetOptions& options, const Dump* like) {
  Target target;
  if (like != nullptr) target = target_like(*like);
  if (!options.loader.empty()) {
    const Loader loader = loader_named(options.loader);
    target.era = loader.era;
    target.build = loader.build;
  }
  if (!options.to.empty()) take_version(options.to, target);
  if (!options.model.empty()) take_model(options.model, target);
  take_settings(options, target);
  return target;
}

std::vector<std::string> spell_out(std::vector<std::string> arguments) {
  static constexpr std::pair<const char*, const char*> names[] = {
      {"-np", "--parallel"},   {"-ctk", "--cache-type-k"}, {"-ctv", "--cache-type-v"},
      {"-fa", "--flash-attn"}, {"-kvu", "--kv-unified"},   {"-no-kvu", "--no-kv-unified"}};
  for (std::string& argument : arguments)
    for (const auto& [brief, full] : names)
      if (argument == brief) argument = full;
  return arguments;
}

}  // namespace kvtool::cli
