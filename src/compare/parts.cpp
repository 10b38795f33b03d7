#include "compare/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "kvtool/facts.h"

namespace kvtool {
namespace {

bool equal_bytes(const Dump& a, const Extent& x, const Dump& b, const Extent& y) {
  if (x.size != y.size) return false;
  constexpr std::uint64_t block = 1U << 18U;
  std::vector<std::byte> of_a;
  std::vector<std::byte> of_b;
  for (std::uint64_t at = 0; at < x.size; at += block) {
    const auto size = static_cast<std::size_t>(std::min(block, x.size - at));
    of_a.resize(size);
    of_b.resize(size);
    a.source->read_at(x.offset + at, of_a);
    b.source->read_at(y.offset + at, of_b);
    if (std::memcmp(of_a.data(), of_b.data(), size) != 0) return false;
  }
  return true;
}

// The state of a blob as a dump of its own.
Dump dump_of(const Dump& dump, const Blob& blob) {
  Dump inner;
  inner.source = dump.source;
  inner.dialect = blob.dialect;
  inner.state = *blob.state;
  return inner;
}

// "3 (at 26, 30 and more tokens)": how many checkpoints, and for which prompts.
std::string checkpoints_text(const Tail& tail) {
  if (tail.checkpoints.empty()) return "none";
  std::vector<std::uint64_t> tokens;
  for (const Checkpoint& c : tail.checkpoints) tokens.push_back(c.tokens);
  return fmt::format("{} (at {} tokens)", tokens.size(), fmt::join(tokens, ", "));
}

std::string size_text(const Extent& extent) {
  return extent.size == 0 ? "none" : fmt::format("{} bytes", extent.size);
}

// Sizes are told only where one side has nothing: a conversion changes them.
void note_if_lone(std::vector<HeaderDifference>& header, const char* field, const Extent& a,
                  const Extent& b) {
  if ((a.size == 0) != (b.size == 0)) header.push_back({field, size_text(a), size_text(b)});
}

class PartComparer {
 public:
  PartComparer(const Dump& a, const Dump& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  std::vector<PartComparison> run() {
    bytes("logits", a_.outputs.logits, b_.outputs.logits);
    bytes("embeddings", a_.outputs.embeddings, b_.outputs.embeddings);
    for (std::size_t c = 0; c < a_.tail.checkpoints.size(); ++c) checkpoint(c);
    blob("draft", a_.tail.draft, b_.tail.draft);
    blob("draft.speculation", a_.tail.draft_speculation, b_.tail.draft_speculation);
    bytes("trailing", a_.tail.trailing, b_.tail.trailing);
    return std::move(parts_);
  }

 private:
  void checkpoint(std::size_t index) {
    const Checkpoint& of_a = a_.tail.checkpoints[index];
    const auto of_b = std::find_if(b_.tail.checkpoints.begin(), b_.tail.checkpoints.end(),
                                   [&](const Checkpoint& c) { return c.tokens == of_a.tokens; });
    if (of_b == b_.tail.checkpoints.end()) return;
    const std::string name = fmt::format("checkpoint[{}]", index);
    blob(name, of_a.target, of_b->target);
    blob(name + ".draft", of_a.draft, of_b->draft);
    blob(name + ".speculation", of_a.speculation, of_b->speculation);
  }

  void blob(const std::string& name, const Blob& x, const Blob& y) {
    if (x.extent.size == 0 || y.extent.size == 0) return;
    if (!x.state || !y.state) return bytes(name, x.extent, y.extent);
    const Comparison c = compare_memories(dump_of(a_, x), dump_of(b_, y), options_);
    parts_.push_back({name, c.verdict, c.words});
  }

  void bytes(const std::string& name, const Extent& x, const Extent& y) {
    if (x.size == 0 || y.size == 0) return;
    if (equal_bytes(a_, x, b_, y))
      parts_.push_back({name, Verdict::identical_bytes, "identical bytes"});
    else
      parts_.push_back({name, Verdict::different_values, "other bytes"});
  }

  const Dump& a_;
  const Dump& b_;
  const CompareOptions& options_;
  std::vector<PartComparison> parts_;
};

}  // namespace

void note_lone_parts(const Dump& a, const Dump& b, std::vector<HeaderDifference>& header) {
  note_if_lone(header, "logits", a.outputs.logits, b.outputs.logits);
  note_if_lone(header, "embeddings", a.outputs.embeddings, b.outputs.embeddings);
  const std::string of_a = checkpoints_text(a.tail);
  const std::string of_b = checkpoints_text(b.tail);
  if (of_a != of_b) header.push_back({"checkpoints", of_a, of_b});
  note_if_lone(header, "draft", a.tail.draft.extent, b.tail.draft.extent);
  note_if_lone(header, "trailing", a.tail.trailing, b.tail.trailing);
}

std::vector<PartComparison> compare_parts(const Dump& a, const Dump& b,
                                          const CompareOptions& options) {
  return PartComparer(a, b, options).run();
}

}  // namespace kvtool
