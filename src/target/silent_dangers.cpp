// What a loader takes without a word and gets wrong. Each finding says of which time it is true.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/facts.h"
#include "target/differences.h"

namespace kvtool::target {
namespace {

constexpr std::uint32_t first_build_with_all_streams = 10829;

bool is_quantized(const Tensor& tensor) {
  return tensor.orientation != Orientation::absent && info(tensor.type).block_elements > 1;
}

// True when a rotation would show nowhere in the file and could matter.
bool holds_quantized(const Dump& dump) {
  bool any = false;
  for (const Memory& memory : dump.state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers)
        any |= is_quantized(layer.k) || is_quantized(layer.v);
  }
  return any;
}

// Heads that are known never to rotate.
bool heads_never_rotate(const ModelShape& shape) {
  return !shape.caches.empty() &&
         std::all_of(shape.caches.begin(), shape.caches.end(), [](const CacheShape& c) {
           return c.head_k != 0 && c.head_k % 64 != 0 && c.head_v % 64 != 0;
         });
}

// Where llama.cpp takes a file of the fork at all (version 2), it cannot know this.
Finding of_the_fork() {
  return {Severity::warning, "rotation_unknown", "",
          "ik_llama.cpp rotates K and V when it is told to (-khad, -vhad), and no byte says so"};
}

class Dangers {
 public:
  Dangers(const Dump& dump, const Target& target)
      : dump_(dump), target_(target), written_(era_of_dump(dump)) {}

  std::vector<Finding> run() {
    rotation();
    mla_rows();
    streams();
    index_cache();
    full_window();
    identity();
    return std::move(findings_);
  }

 private:
  void warn(std::string code, std::string message) {
    findings_.push_back({Severity::warning, std::move(code), "", std::move(message)});
  }

  void rotation() {
    if (dump_.dialect.rotation || !holds_quantized(dump_) || heads_never_rotate(*target_.model))
      return;
    if (written_.rotates.has_value() && written_.rotates == target_.era->rotates) return;
    warn(
        "rotation_unknown",
        "it does not say whether its quantized K and V are rotated: llama.cpp rotates heads of 64, "
        "128 ... since 1 April 2026 and says so only since October 2026 (11 / 4); a loader of the "
        "other time takes it and answers nonsense");
  }

  void mla_rows() {
    const std::string& arch = dump_.arch ? *dump_.arch : target_.model->arch;
    const bool mla = dump_.state.arrangement == "mla";
    if (arch != "deepseek2" && !(arch.empty() && mla)) return;
    const MlaRows mine = target_.era->mla_rows;
    if (written_.mla_rows == mine && mine != MlaRows::unknown) return;
    warn("mla_row_order",
         "deepseek2 stored the halves of its K rows the other way round in the second half of 2025 "
         "(seen in July and December; as before by January 2026), and no file says which: a loader "
         "of the other time takes it and answers nonsense");
  }

  // Readers cleared all streams before each one.
  void streams() {
    const bool session = dump_.dialect.container == Container::session;
    const bool fixed = target_.era->slot_version >= 4 ||
                       (target_.build && *target_.build >= first_build_with_all_streams);
    if (!session || !target_.era->streams || fixed) return;
    for (const Memory& memory : dump_.state.memories) {
      const auto filled = std::count_if(memory.streams.begin(), memory.streams.end(),
                                        [](const Stream& s) { return !s.cells.empty(); });
      if (memory.kind != MemoryKind::attention || filled < 2) continue;
      return warn(
          "streams_lost",
          fmt::format("it has {} streams with cells: builds before September 2026 (to b10645; "
                      "right in b10829) keep only the last of them",
                      filled));
    }
  }

  void index_cache() {
    if (dump_.state.arrangement.rfind("hybrid-idx", 0) != 0) return;
    warn("index_cache",
         "the index cache of qwen4exp had V until September 2026 (v0.4.0), none since b11010, and "
         "wider K since October 2026 (0.7.0), under version numbers that do not tell: a slot file "
         "with surplus V loads and the rest is ignored, one without aborts v0.4.0");
  }

  void full_window() {
    if (target_.swa_full != true || !written_.window_cut || !holds_one_sequence(dump_)) return;
    const auto& memories = dump_.state.memories;
    if (std::any_of(memories.begin(), memories.end(), [](auto& m) { return m.role == "window"; }))
      warn("window_cut",
           "its window cache holds only the window (June 2026 on), and a server with --swa-full "
           "goes back behind it without noticing that cells are missing");
  }

  void identity() {
    warn("model_unknown",
         dump_.arch ? "only the architecture is stored, to this day: another model of the same shape "
                      "takes the file and answers nonsense"
                    : "no slot file says of which model it is, to this day: another one of the same "
                      "shape takes it and answers nonsense");
  }

  const Dump& dump_;
  const Target& target_;
  Era written_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> silent_dangers(const Dump& dump, const Target& target) {
  if (dump.dialect.family == Family::ik_llama) return {of_the_fork()};
  if (dump.dialect.body != Body::current) return {};  // no loader of now takes those silently
  return Dangers(dump, target).run();
}

}  // namespace kvtool::target
