#include <algorithm>

#include "kvtool/edit.h"

namespace kvtool {
namespace {

// False where a cell stands behind one that it stood before; dropped cells do not count.
bool keeps_order(const Stream& stream) {
  return std::is_sorted(stream.origin.begin(), stream.origin.end(),
                        [](const CellRun& a, const CellRun& b) { return a.first < b.first; });
}

bool keeps_order(const Memory& memory) {
  return std::all_of(memory.streams.begin(), memory.streams.end(),
                     [](const Stream& stream) { return keeps_order(stream); });
}

}  // namespace

// The index of qwen4exp has one head whose scores end at zero, so many cells are equally good, and
// llama.cpp then takes them by their places.
std::vector<std::string> dangers_of_order(const Plan& plan) {
  const State& state = plan.target.state;
  if (state.arrangement.rfind("hybrid-idx", 0) != 0) return {};
  const bool same = std::all_of(state.memories.begin(), state.memories.end(), [](const Memory& m) {
    return m.kind != MemoryKind::attention || keeps_order(m);
  });
  if (same) return {};
  return {
      "the order of cells matters in this file: the sparse index of qwen4exp chooses among cells "
      "of equal score by their places, so the model's next answer may differ"};
}

}  // namespace kvtool
