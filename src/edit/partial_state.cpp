#include "edit/partial_state.h"

namespace kvtool {
namespace {

std::vector<std::size_t> indices(const State& whole, bool only_those_that_cannot_rewind) {
  std::vector<std::size_t> list;
  for (std::size_t m = 0; m < whole.memories.size(); ++m)
    if (!only_those_that_cannot_rewind || cannot_rewind(whole.memories[m])) list.push_back(m);
  return list;
}

std::size_t layers_of(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty()) return stream.layers.size();
  return 0;
}

// Empty caches show no layers.
bool may_be_copy(const Memory& whole, const Memory& part) {
  const std::size_t a = layers_of(whole);
  const std::size_t b = layers_of(part);
  return whole.kind == part.kind && (a == b || a == 0 || b == 0);
}

bool fit(const State& whole, const State& part, const std::vector<std::size_t>& list) {
  if (list.size() != part.memories.size()) return false;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!may_be_copy(whole.memories[list[i]], part.memories[i])) return false;
  return true;
}

}  // namespace

std::optional<std::vector<std::size_t>> counterparts(const State& whole, const State& part) {
  for (const bool partial : {true, false})
    if (auto list = indices(whole, partial); !list.empty() && fit(whole, part, list)) return list;
  return std::nullopt;
}

}  // namespace kvtool
