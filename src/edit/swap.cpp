#include <utility>

#include "edit/address.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"

namespace kvtool {

Plan swap(std::shared_ptr<const Dump> dump, CellAddress a, CellAddress b) {
  if (a.memory != b.memory || a.stream != b.stream)
    throw Error(ErrorKind::usage, "only cells of one stream can be exchanged");
  Plan plan = Plan::of(std::move(dump));
  Stream& stream = plan.stream(a.memory, a.stream);
  require_cells(stream, a.cell, 1);
  require_cells(stream, b.cell, 1);
  std::vector<std::uint32_t> order = same_order(stream);
  std::swap(order[a.cell], order[b.cell]);
  reorder(stream, order);
  return plan;
}

}  // namespace kvtool
