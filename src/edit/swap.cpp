#include <utility>

#include "edit/address.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"

namespace kvtool {

Plan swap(std::shared_ptr<const Dump> dump, CellAddress a, CellAddress b) {
  if (a.memory != b.memory || a.stream != b.stream)
    throw Error(ErrorKind::usage, "only cells of one stream can be exchanged");
  Plan plan = Plan::of(std::move(dump));
  const std::vector<Stream*> streams = streams_in_step(plan, a.memory, a.stream);
  require_cells(*streams.front(), a.cell, 1);
  require_cells(*streams.front(), b.cell, 1);
  std::vector<std::uint32_t> order = same_order(*streams.front());
  std::swap(order[a.cell], order[b.cell]);
  for (Stream* stream : streams) reorder(*stream, order);
  return plan;
}

}  // namespace kvtool
