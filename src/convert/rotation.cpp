#include "convert/rotation.h"

#include <fmt/format.h>

#include "convert/steps.h"
#include "kvtool/error.h"
#include "kvtool/rotation_evidence.h"

namespace kvtool::convert_steps {
namespace {

using Widths = std::pair<std::uint32_t, std::uint32_t>;  // of K and of V

bool quantized(const Tensor& tensor) {
  return tensor.orientation != Orientation::absent && info(tensor.type).block_elements > 1;
}

// Only heads of 64, 128 ... elements are rotated, so rows of another width never are.
bool may_be_rotated(const Tensor& tensor) {
  return quantized(tensor) && tensor.cell_elements() % 64 == 0;
}

// The index cache of deepseek32 and its kin rotates K whatever its type, over its one head.
bool is_rotated_index(const State& state, const Memory& memory) {
  return state.arrangement.rfind("dsa", 0) == 0 && memory.role == "index";
}

// The largest that divides it.
std::uint32_t power_of_two_in(std::uint64_t width) {
  return static_cast<std::uint32_t>(width & (~width + 1));
}

std::uint32_t index_width(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    for (const Layer& layer : stream.layers) return power_of_two_in(layer.k.cell_elements());
  return 0;
}

const CacheShape* cache_for(const Target& target, const Memory& memory) {
  if (!target.model) return nullptr;
  for (const CacheShape& cache : target.model->caches)
    if (cache.role == memory.role) return &cache;
  return target.model->caches.empty() ? nullptr : &target.model->caches.front();
}

std::string arch_of(const Dump& source, const Target& target) {
  if (target.model && !target.model->arch.empty()) return target.model->arch;
  return source.arch.value_or("");
}

// An era in which quantized rows are rotated, for asking what that would be.
const Era& rotating_era() { return eras().back(); }

std::optional<Widths> rule(const Era& era, const Target& target, const Dump& source,
                           const Memory& memory, const Layer& layer) {
  const CacheShape* cache = cache_for(target, memory);
  if (cache == nullptr) return std::nullopt;
  const ElementType v =
      layer.v.orientation == Orientation::absent ? ElementType::f16 : layer.v.type;
  return rotation_for(era, *cache, arch_of(source, target), layer.k.type, v);
}

// The rule of today's llama.cpp, for targets that are known to rotate.
std::optional<Widths> rule_if(std::optional<bool> rotates, const Target& target, const Dump& source,
                              const Memory& memory, const Layer& layer) {
  if (!rotates.value_or(false)) return std::nullopt;
  return rule(rotating_era(), target, source, memory, layer);
}

const Layer* first_layer(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty() && !stream.cells.empty()) return &stream.layers.front();
  return nullptr;
}

const Stream* first_stream(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return &stream;
  return nullptr;
}

// What the caller says, in so many words or by the time of the file.
StatedRotation stated_rotation(const ConvertOptions& options) {
  if (options.rotation != StatedRotation::unknown || !options.written) return options.rotation;
  if (!options.written->rotates) return StatedRotation::unknown;
  return *options.written->rotates ? StatedRotation::hadamard : StatedRotation::none;
}

// How the rows of a memory are rotated; empty if nothing tells. K and V are told apart because
// often only one of them can be rotated at all.
struct Known {
  std::optional<std::uint32_t> k;
  std::optional<std::uint32_t> v;
};

// Widths that quantized rows have if they are rotated at all. The fork turns V in whole heads, too.
std::optional<Widths> rotated_widths(const Dump& source, const Target& target, const Memory& memory,
                                     const Layer& layer) {
  auto widths = rule(rotating_era(), target, source, memory, layer);
  if (widths && widths->second != 0 && source.dialect.family == Family::ik_llama)
    widths->second = power_of_two_in(cache_for(target, memory)->head_v);
  return widths;
}

constexpr std::optional<std::uint32_t> unknown_width;

// The width of one part; `stated`: whether it is said to be rotated, and `width`: how it is then.
std::optional<std::uint32_t> known_width(const Tensor& tensor, StatedRotation stated, bool rotates,
                                         std::optional<std::uint32_t> width) {
  if (!may_be_rotated(tensor) || width == 0U) return 0;
  if (stated == StatedRotation::unknown) return std::nullopt;
  return rotates ? width : 0;
}

Known known_rotation(const State& state, const Memory& memory, const Dump& source,
                     const Target& target, const ConvertOptions& options) {
  const Layer* layer = first_layer(memory);
  if (layer == nullptr) return {0, 0};
  const Stream* stream = first_stream(memory);
  if (source.dialect.rotation) return {stream->rot_k, stream->rot_v};
  if (is_rotated_index(state, memory)) return {index_width(memory), 0};
  const StatedRotation stated = stated_rotation(options);
  if (predates_rotation(source.dialect) || stated == StatedRotation::none) return {0, 0};
  const auto widths = rotated_widths(source, target, memory, *layer);
  return {known_width(layer->k, stated, rotates_k(stated), widths ? widths->first : unknown_width),
          known_width(layer->v, stated, rotates_v(stated),
                      widths ? widths->second : unknown_width)};
}

void set_words(Memory& memory, std::uint32_t k, std::uint32_t v) {
  for (Stream& stream : memory.streams) {
    stream.rot_k = k;
    stream.rot_v = v;
  }
}

// True, false, or unknown: does the target rotate quantized rows?
std::optional<bool> target_rotates(const Dump& source, const Target& target) {
  if (target.rotation_disabled.value_or(false)) return false;
  if (target.era) return target.era->rotates;
  if (source.dialect.body != Body::current) return false;
  if (source.dialect.version == 0 || source.dialect.streams == false) return std::nullopt;
  const bool session = source.dialect.container == Container::session;
  if (source.dialect.version >= (session ? 10U : 3U)) return true;
  return source.dialect.outputs ? std::optional<bool>(false) : std::nullopt;
}

[[noreturn]] void refuse(const Memory& memory, const char* part, const std::string& why) {
  throw Error(ErrorKind::refused, fmt::format("{} of the {} memory: {}", part, memory.role, why));
}

constexpr const char* ask_rotation =
    "whether its quantized rows are rotated is not in the file; say --written-by BUILD-OR-DATE, or "
    "--rotation none or hadamard (check --deep shows what the values look like)";
constexpr const char* ask_rotation_of_fork =
    "ik_llama.cpp rotates its quantized rows when it is told to, and no byte says so; say "
    "--rotation "
    "none, hadamard (-khad -vhad), hadamard-k or hadamard-v (check --deep shows what K looks like)";
constexpr const char* ask_heads =
    "how its rows are rotated depends on the head size; say --model MODEL.gguf or --like REF";
constexpr const char* ask_loader =
    "whether the target rotates quantized rows depends on its date; say --loader VERSION";

// What one part of a memory becomes: the width that the target wants, given what is known.
class PartDecision {
 public:
  PartDecision(const Memory& memory, const char* name, const Tensor& before, const Tensor& after,
               std::optional<std::uint32_t> known, const char* question, bool as_it_is)
      : memory_(memory),
        name_(name),
        before_(before),
        after_(after),
        known_(known),
        question_(question),
        as_it_is_(as_it_is) {}

  std::uint32_t width(std::optional<bool> rotates, std::optional<std::uint32_t> by_rule) const {
    if (!may_be_rotated(after_)) return plain();
    if (as_it_is_ && before_.type == after_.type) return known_.value_or(0);
    if (!rotates) return as_before(ask_loader);
    if (!*rotates) return plain();
    if (by_rule) return from_known(*by_rule);
    // Rows that are rotated show the width. Rows that are not show nothing: their writer may have
    // been too old, or told not to.
    if (quantized(before_) && known_.value_or(0) != 0) return *known_;
    refuse(memory_, name_, known_ ? ask_heads : question_);
  }

 private:
  // Rows that must end unrotated.
  std::uint32_t plain() const { return from_known(0); }

  std::uint32_t from_known(std::uint32_t wanted) const {
    if (!known_) refuse(memory_, name_, question_);
    return wanted;
  }

  // Rows that stay as they are because nobody knows what they are.
  std::uint32_t as_before(const char* otherwise) const {
    if (before_.type != after_.type) refuse(memory_, name_, otherwise);
    return known_.value_or(0);
  }

  const Memory& memory_;
  const char* name_;
  const Tensor& before_;
  const Tensor& after_;
  std::optional<std::uint32_t> known_;
  const char* question_;  // what has to be said where `known` is nothing
  bool as_it_is_;  // no loader is named that decides, and no words would have to be right
};

// What a dump of the target shows for its attention cache number `cache`.
std::optional<Widths> shown_rotation(const Target& target, std::size_t cache) {
  return cache < target.rotation.size() ? target.rotation[cache] : std::nullopt;
}

// A memory before and after the other steps, and its number among the attention caches.
struct Change {
  const State& state;
  const Memory& before;
  Memory& after;
  std::size_t cache;
};

// What to ask for of a part of which nothing is known. That it is rotated gives no width yet.
const char* question_about(const Dump& source, bool said_to_be_rotated) {
  if (said_to_be_rotated) return ask_heads;
  return source.dialect.family == Family::ik_llama ? ask_rotation_of_fork : ask_rotation;
}

// There the options of a server decide, and not its version.
bool stays_in_fork(const Dump& source, const Era& target) {
  return source.dialect.family == Family::ik_llama && target.family == Family::ik_llama;
}

void set_memory_rotation(const Change& change, const Dump& source, const Target& target,
                         const ConvertOptions& options) {
  Memory& memory = change.after;
  const Layer* layer = first_layer(memory);
  const Layer* layer_before = first_layer(change.before);
  if (layer == nullptr || layer_before == nullptr) return;
  const Known known = known_rotation(change.state, change.before, source, target, options);
  if (is_rotated_index(change.state, change.before))
    return set_words(memory, known.k.value_or(0), 0);
  const auto shown = shown_rotation(target, change.cache);
  const auto rotates = shown ? std::optional(true) : target_rotates(source, target);
  std::optional<std::uint32_t> wanted_k;
  std::optional<std::uint32_t> wanted_v;
  if (const auto wanted = shown ? shown : rule_if(rotates, target, source, memory, *layer)) {
    wanted_k = wanted->first;
    wanted_v = wanted->second;
  }
  const StatedRotation stated = stated_rotation(options);
  const bool as_it_is = !shown && !target.rotation_disabled && !source.dialect.rotation &&
                        (!target.era || stays_in_fork(source, *target.era));
  const PartDecision k(memory, "K", layer_before->k, layer->k, known.k,
                       question_about(source, rotates_k(stated)), as_it_is);
  const PartDecision v(memory, "V", layer_before->v, layer->v, known.v,
                       question_about(source, rotates_v(stated)), as_it_is);
  const std::uint32_t width_k = k.width(rotates, wanted_k);
  set_words(memory, width_k, v.width(rotates, wanted_v));
}

void state_rotation(State& state, const Dump& dump, const Target& target,
                    const ConvertOptions& options) {
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    const Known known = known_rotation(state, memory, dump, target, options);
    set_words(memory, known.k.value_or(0), known.v.value_or(0));
  }
}

}  // namespace

std::shared_ptr<const Dump> with_known_rotation(const Dump& dump, const Target& target,
                                                const ConvertOptions& options) {
  auto copy = std::make_shared<Dump>(dump);
  if (dump.dialect.rotation) return copy;
  state_rotation(copy->state, dump, target, options);
  return copy;
}

void set_rotation(State& state, const State& before, const Dump& source, const Target& target,
                  const ConvertOptions& options) {
  std::size_t cache = 0;
  for (std::size_t m = 0; m < state.memories.size(); ++m) {
    if (state.memories[m].kind != MemoryKind::attention) continue;
    set_memory_rotation({before, before.memories[m], state.memories[m], cache++}, source, target,
                        options);
  }
}

}  // namespace kvtool::convert_steps
