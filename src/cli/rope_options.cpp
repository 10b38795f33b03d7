#include "cli/rope_options.h"

#include "edit/known_rotation.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/target.h"
#include "target/model_match.h"

namespace kvtool::cli {
namespace {

constexpr const char* group = "Rope";

std::optional<RopePairs> pairs_named(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return name == "norm" ? RopePairs::neighbours : RopePairs::halves;
}

std::optional<RopeScaling> scaling_named(const std::string& name) {
  if (name.empty()) return std::nullopt;
  if (name == "none") return RopeScaling::none;
  if (name == "yarn") return RopeScaling::yarn;
  return name == "longrope" ? RopeScaling::longrope : RopeScaling::linear;
}

RopeOptions rope_options(const MoveOptions& options) {
  RopeOptions rope = options.rope;
  rope.pairs = pairs_named(options.pairs);
  rope.scaling = scaling_named(options.scaling);
  return rope;
}

std::optional<Gguf> model_of(const WindowOptions& options) {
  if (options.model.empty()) return std::nullopt;
  return open_gguf(open_source(options.model));
}

// The shape of a model, where it is one of those whose shape is known.
std::optional<ModelShape> shape_if_known(const Gguf& model, const Dump& dump) {
  try {
    return shape_of_model(model, era_of_dump(dump));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

std::uint32_t window_in(const std::optional<ModelShape>& shape) {
  if (!shape) return 0;
  for (const CacheShape& cache : shape->caches)
    if (cache.role == "window") return cache.window;
  return 0;
}

// As much of a shape as --head-size tells.
std::optional<ModelShape> shape_of_heads(const Dump& dump, std::optional<std::uint32_t> head) {
  if (!head) return std::nullopt;
  ModelShape shape;
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::attention) {
      CacheShape& cache = shape.caches.emplace_back();
      cache.role = memory.role;
      cache.head_k = cache.head_v = *head;
    }
  return shape;
}

RopeFacts facts_of(const std::optional<Gguf>& model, const Dump& dump, const RopeOptions& rope) {
  return model ? rope_of_model(*model, dump, rope) : rope_of_options(dump, rope);
}

}  // namespace

void add_window(CLI::App& verb, WindowOptions& options, InputOptions& input) {
  replace_option(verb, "--model");
  verb.add_option("-m,--model", options.model, "the model's file: tells what edits have to know")
      ->type_name("GGUF")
      ->each(handing_on_to(input.model));
  verb.add_option("--window", options.window, "positions that the model's window layers look back")
      ->type_name("N");
}

std::uint32_t window_of(const WindowOptions& options, const Dump& dump) {
  if (options.window) return *options.window;
  const auto model = model_of(options);
  if (!model) return 0;
  const auto shape = shape_if_known(*model, dump);
  target::require_model_of(dump, *model, shape);
  return window_in(shape);
}

void add_moves(CLI::App& verb, MoveOptions& o, InputOptions& input) {
  add_window(verb, o.window, input);
  verb.add_flag("--labels-only", o.labels_only,
                "move the labels and leave K as it is (wrong for most models)");
  verb.add_option("--rotation", o.rotation,
                  "whether quantized K is rotated, where the file does not say")
      ->check(CLI::IsMember(rotation_names()))
      ->capture_default_str();
  const auto number = [&](const char* name, auto& value, const char* what) {
    verb.add_option(name, value, what)->type_name("N")->group(group);
  };
  verb.add_option("--rope-pairs", o.pairs, "which elements of a head are a pair: norm or neox")
      ->check(CLI::IsMember({"norm", "neox"}))
      ->group(group);
  number("--rope-freq-base", o.rope.base, "base of the frequencies");
  number("--rope-freq-base-window", o.rope.window_base, "base in the window cache");
  number("--head-size", o.rope.head, "elements of a head of K");
  number("--rope-dims", o.rope.dimensions, "elements of a head that turn (else all)");
  number("--rope-offset", o.rope.offset, "the first of them (else 0)");
  verb.add_option("--rope-scaling", o.scaling, "none, linear, yarn or longrope")
      ->check(CLI::IsMember({"none", "linear", "yarn", "longrope"}))
      ->group(group);
  number("--rope-freq-scale", o.rope.scale, "what positions are multiplied with");
  number("--yarn-orig-ctx", o.rope.original_context, "context of the model's training");
  number("--yarn-ext-factor", o.rope.yarn_ext_factor, "how much of YaRN's mixture (1)");
  number("--yarn-beta-fast", o.rope.yarn_beta_fast, "turns above which a pair is left alone (32)");
  number("--yarn-beta-slow", o.rope.yarn_beta_slow, "turns below which it is slowed down (1)");
  number("-c,--ctx-size", o.rope.context,
         "context of a sequence, which chooses longrope's factors");
}

Prepared prepare(const MoveOptions& o, std::shared_ptr<const Dump> dump, bool moves) {
  const auto model = model_of(o.window);
  const auto shape = model ? shape_if_known(*model, *dump) : std::nullopt;
  if (model) target::require_model_of(*dump, *model, shape);
  Prepared result{std::move(dump), {}};
  result.options.window = o.window.window.value_or(window_in(shape));
  if (!moves || o.labels_only) return result;
  const auto heads = shape ? shape : shape_of_heads(*result.dump, o.rope.head);
  result.dump = with_key_rotation(std::move(result.dump), rotation_named(o.rotation), heads);
  result.options.rope =
      std::make_shared<RopeFacts>(facts_of(model, *result.dump, rope_options(o)));
  return result;
}

std::vector<std::string> rotation_names() {
  return {"auto", "none", "hadamard", "hadamard-k", "hadamard-v"};
}

StatedRotation rotation_named(const std::string& name) {
  if (name == "none") return StatedRotation::none;
  if (name == "hadamard-k") return StatedRotation::hadamard_k;
  if (name == "hadamard-v") return StatedRotation::hadamard_v;
  return name == "hadamard" ? StatedRotation::hadamard : StatedRotation::unknown;
}

}  // namespace kvtool::cli
