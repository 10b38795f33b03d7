#include "edit/address.h"

#include <fmt/format.h>

#include <numeric>

#include "edit/state_places.h"
#include "kvtool/error.h"

namespace kvtool {

void require_cells(const Stream& stream, std::uint64_t first, std::uint64_t count) {
  const std::uint64_t cells = stream.cells.size();
  if (count == 0) throw Error(ErrorKind::usage, "at least one cell must be named");
  if (first < cells && count <= cells - first) return;
  throw Error(ErrorKind::usage,
              count == 1 ? fmt::format("cell {} does not exist; the stream has {}", first, cells)
                         : fmt::format("cells {} to {} do not exist; the stream has {}", first,
                                       first + count - 1, cells));
}

std::vector<Stream*> streams_in_step(Plan& plan, std::uint32_t memory, std::uint32_t stream) {
  Stream& chosen = plan.stream(memory, stream);
  auto& memories = plan.target.state.memories;
  require_free_order(plan.target, memories[memory]);
  std::vector<Stream*> streams = {&chosen};
  if (memories[memory].kind != MemoryKind::attention) return streams;
  for (Memory& other : memories) {
    if (other.kind != MemoryKind::attention || stream >= other.streams.size()) continue;
    Stream& candidate = other.streams[stream];
    if (&candidate != &chosen && candidate.cells == chosen.cells) streams.push_back(&candidate);
  }
  return streams;
}

std::vector<std::uint32_t> same_order(const Stream& stream) {
  std::vector<std::uint32_t> order(stream.cells.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

}  // namespace kvtool
