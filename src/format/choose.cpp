#include "format/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// Architectures whose only memory is a recurrent state.
constexpr std::array<std::string_view, 6> recurrent_architectures = {
    "mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"};

bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.orientation == b.orientation && a.type == b.type && a.extent == b.extent;
}

bool same_layers(const std::vector<Layer>& a, const std::vector<Layer>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Layer& x, const Layer& y) {
    return same_tensor(x.k, y.k) && same_tensor(x.v, y.v) && same_tensor(x.ple, y.ple);
  });
}

// Empty tables are equal whatever extension their cells would have had.
bool same_cells(const CellTable& a, const CellTable& b) {
  return (a.empty() && b.empty()) || a == b;
}

std::vector<const Stream*> streams_of(const Dump& dump) {
  std::vector<const Stream*> streams;
  for_each_stream(dump, [&](const Stream& stream) { streams.push_back(&stream); });
  return streams;
}

const Memory* lone_memory(const Dump& dump) {
  return dump.state.memories.size() == 1 ? &dump.state.memories.front() : nullptr;
}

bool is_lone(const Dump& dump, MemoryKind kind) {
  const Memory* memory = lone_memory(dump);
  return memory != nullptr && memory->kind == kind;
}

// A recurrent memory and an attention cache without streams have the same bytes. The arch settles
// it; without one: a sequence has one recurrent cell, but an attention cell for each token.
bool prefer_recurrent(const Dump& recurrent, std::string& reason) {
  if (recurrent.arch) {
    const bool known = std::find(recurrent_architectures.begin(), recurrent_architectures.end(),
                                 *recurrent.arch) != recurrent_architectures.end();
    reason = fmt::format("the architecture is {}", *recurrent.arch);
    return known;
  }
  const CellTable& cells = lone_memory(recurrent)->streams.front().cells;
  const bool one = cells.size() == 1 && (cells.position(0) > 0 || recurrent.tokens.ids.size() > 1);
  reason = one ? "one cell stands for all tokens" : "there is a cell for each token";
  return one;
}

Dump resolve_recurrent(Dump attention, Dump recurrent) {
  std::string reason;
  const bool as_recurrent = prefer_recurrent(recurrent, reason);
  Dump taken = as_recurrent ? std::move(recurrent) : std::move(attention);
  taken.why.push_back(fmt::format(
      "a recurrent state and an attention cache without streams have the same bytes; read as {}: {}",
      as_recurrent ? "recurrent" : "attention", reason));
  return taken;
}

Dump resolve_two(Dump first, Dump second) {
  if (is_lone(first, MemoryKind::attention) && is_lone(second, MemoryKind::recurrent))
    return resolve_recurrent(std::move(first), std::move(second));
  if (is_lone(first, MemoryKind::recurrent) && is_lone(second, MemoryKind::attention))
    return resolve_recurrent(std::move(second), std::move(first));
  if (first.layout == second.layout) return first;
  const std::string other = fmt::format(
      "reads as {} too, with the same content: no byte tells them apart", second.layout);
  const bool said = std::find(first.why.begin(), first.why.end(), other) != first.why.end();
  if (!said) first.why.push_back(other);  // dialects that differ in nothing visible say it again
  return first;
}

// minimax-m3 writes a base and an index cache with the bytes of a base and a window cache.
void explain_pair(Dump& dump) {
  auto& memories = dump.state.memories;
  if (dump.arch == "minimax-m3") {
    memories[1].role = "index";
    dump.why.emplace_back("the second cache is an index: the architecture is minimax-m3");
  } else if (dump.arch) {
    dump.why.push_back(fmt::format("the second cache is a window: the architecture is {}", *dump.arch));
  } else if (!same_cells(memories[1].streams.front().cells, memories[0].streams.front().cells)) {
    dump.why.emplace_back("the second cache is a window: it holds other cells than the first");
  } else {
    dump.why.emplace_back(
        "a window and the index of minimax-m3 have the same bytes; named a window, the commoner one");
  }
}

// What the bytes of a state without a name of its model leave open.
void explain_partial(Dump& dump) {
  if (dump.state.arrangement == "kv")
    dump.why.emplace_back("may be the window of a window model alone (a partial state): same bytes");
  if (dump.state.arrangement == "hybrid")
    dump.why.emplace_back(
        "may be window and recurrent state of a hybrid with a window (a partial state): same bytes");
}

[[noreturn]] void refuse(const Dump& a, const Dump& b) {
  throw Error(ErrorKind::refused,
              fmt::format("reads as {} and as {}, with different content; choose with --layout",
                          a.layout, b.layout));
}

}  // namespace

bool same_reading(const Dump& a, const Dump& b) {
  const auto x = streams_of(a);
  const auto y = streams_of(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Stream* s, const Stream* t) {
    return same_cells(s->cells, t->cells) && same_layers(s->layers, t->layers);
  });
}

Dump choose(std::vector<Dump> readings) {
  Dump taken = std::move(readings.front());
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (!same_reading(taken, readings[i])) refuse(taken, readings[i]);
    taken = resolve_two(std::move(taken), std::move(readings[i]));
  }
  if (taken.state.arrangement == "iswa") explain_pair(taken);
  if (taken.dialect.container == Container::sequence_state) explain_partial(taken);
  return taken;
}

}  // namespace kvtool::format
