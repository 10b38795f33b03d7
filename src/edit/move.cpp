#include <algorithm>

#include "edit/address.h"
#include "kvtool/edit.h"

namespace kvtool {

Plan move(std::shared_ptr<const Dump> dump, CellAddress from, std::uint32_t to,
          std::uint32_t count) {
  Plan plan = Plan::of(std::move(dump));
  const std::vector<Stream*> streams = streams_in_step(plan, from.memory, from.stream);
  require_cells(*streams.front(), from.cell, count);
  require_cells(*streams.front(), to, count);
  std::vector<std::uint32_t> order = same_order(*streams.front());
  const auto begin = order.begin();
  const auto at = [&](std::uint64_t cell) { return begin + static_cast<std::ptrdiff_t>(cell); };
  if (to < from.cell)
    std::rotate(at(to), at(from.cell), at(std::uint64_t{from.cell} + count));
  else
    std::rotate(at(from.cell), at(std::uint64_t{from.cell} + count), at(std::uint64_t{to} + count));
  for (Stream* stream : streams) reorder(*stream, order);
  return plan;
}

}  // namespace kvtool
