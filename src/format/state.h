// The memories of a state: which kinds follow each other in the files of which models.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/attention.h"
#include "format/reader.h"
#include "format/recurrent.h"
#include "kvtool/dump.h"
#include "kvtool/error.h"

namespace kvtool::format {

// A kind of memory as a layout describes it.
enum class Part {
  attention,             // K and V
  attention_k_only,      // V headers left out: MLA and indexer caches
  recurrent,
  deepseek4_head,        // full
  deepseek4_part_head,   // partial: no body behind the caches
  deepseek4_body,
};

struct PartSpec {
  Part part;
  const char* role;
};

// A sequence of parts that some models write; see arrangements() for people.
struct ArrangementSpec {
  const char* name;
  const char* models;
  std::vector<PartSpec> parts;
};

// In the order in which equal readings are preferred.
[[nodiscard]] const std::vector<ArrangementSpec>& arrangement_specs();

// True when any layer of an attention memory stores V.
[[nodiscard]] bool stores_v(const Memory& memory);

// Presents the memories of a state of today's llama.cpp; walk_memories() in memories.h is for all.
template <class Io>
void walk_parts(Io& io, const State& state, const Dialect& dialect) {
  for (std::size_t m = 0; m < state.memories.size(); ++m) {
    const Scope in = io.scope("memory", m);
    const Memory& memory = state.memories[m];
    if (memory.kind == MemoryKind::attention) attention(io, memory, dialect, stores_v(memory));
    if (memory.kind == MemoryKind::recurrent)
      recurrent(io, memory, dialect, {0, ple_layer_of(memory.streams.front())});
    for (const Block& block : memory.blocks) io.opaque(block.label.c_str(), block.extent, 0);
  }
}

// A way of reading a state, and where it ends.
struct StateReading {
  State state;
  Reader end;  // stands behind the state
};

// Keeps the error of the attempt that came furthest: that had read most cells and tensors whole,
// then by offset; of those that came about as far, the first.
class Furthest {
 public:
  // `progress` as Reader::progress() tells it. `whole`: the state was read whole, and what stands
  // behind it is wrong from its first word on: likelier than one more memory that begins so.
  void note(const Error& error, const std::string& attempt, std::uint64_t progress,
            bool whole = false);
  [[nodiscard]] bool empty() const { return !error_; }
  [[nodiscard]] const Error& error() const { return *error_; }
  [[nodiscard]] const std::string& attempt() const { return attempt_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_; }

 private:
  [[nodiscard]] bool is_further(std::uint64_t progress, std::uint64_t offset, bool whole) const;

  std::optional<Error> error_;
  std::uint64_t progress_ = 0;
  std::uint64_t offset_ = 0;  // of error_
  std::string attempt_;
};

// All ways of reading the bytes from `io` on as the memories of a state of this dialect, whatever
// its family. What did not read is noted in `furthest` under `attempt` and the arrangement's name.
// `only`: the one arrangement of llama.cpp to try; empty: all.
std::vector<StateReading> read_states(const Reader& io, const Dialect& dialect,
                                      const std::string& attempt, Furthest& furthest,
                                      std::string_view only = {});

}  // namespace kvtool::format
