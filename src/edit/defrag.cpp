#include <algorithm>
#include <map>

#include "format/container.h"
#include "kvtool/edit.h"

namespace kvtool {
namespace {

constexpr SequenceId unnamed = -1;  // stands for the one sequence of files that store no ids

// The cells of one sequence by position, and how many of them have been placed.
struct Queue {
  std::vector<std::uint32_t> cells;
  std::size_t placed = 0;
  [[nodiscard]] bool done() const { return placed == cells.size(); }
  [[nodiscard]] std::uint32_t head() const { return cells[placed]; }
};

// Places the cells of all sequences so that each sequence ascends. It follows the lowest sequence
// as long as it can, which makes its cells one run; a shared cell waits until the other sequences
// that hold it have come as far.
class Defragmenter {
 public:
  Defragmenter(const CellTable& cells, bool keep_unnamed) : cells_(cells) {
    for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
      for (const SequenceId id : cells.sequences(cell)) queues_[id].cells.push_back(cell);
      if (keep_unnamed && cells.sequences(cell).empty()) queues_[unnamed].cells.push_back(cell);
    }
    for (auto& [id, queue] : queues_) sort_by_position(queue.cells);
  }

  std::vector<std::uint32_t> run() {
    for (auto& [id, queue] : queues_)
      while (!queue.done()) place(first_free(queue));
    return std::move(order_);
  }

 private:
  // Equal positions (the cells of an image) stay in their order. An id that a cell lists twice
  // must not enter twice.
  void sort_by_position(std::vector<std::uint32_t>& cells) const {
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    std::stable_sort(cells.begin(), cells.end(), [&](std::uint32_t a, std::uint32_t b) {
      return cells_.position(a) < cells_.position(b);
    });
  }

  // The next cell that all its sequences are ready for, starting from the head of `queue`. All
  // queues are sorted alike, so a cell that is waited for comes strictly earlier: no circles.
  std::uint32_t first_free(const Queue& queue) {
    std::uint32_t cell = queue.head();
    std::uint32_t waiting = blocker(cell);
    while (waiting != cell) {
      cell = waiting;
      waiting = blocker(cell);
    }
    return cell;
  }

  // The head of a sequence that holds `cell` but has not come to it, or `cell` itself.
  std::uint32_t blocker(std::uint32_t cell) {
    for (const SequenceId id : cells_.sequences(cell)) {
      const std::uint32_t head = queues_[id].head();
      if (head != cell) return head;
    }
    return cell;
  }

  void place(std::uint32_t cell) {
    order_.push_back(cell);
    const auto ids = cells_.sequences(cell);
    if (ids.empty()) ++queues_[unnamed].placed;
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i), ids[i]) ==
          ids.begin() + static_cast<std::ptrdiff_t>(i))
        ++queues_[ids[i]].placed;
  }

  const CellTable& cells_;
  std::map<SequenceId, Queue> queues_;
  std::vector<std::uint32_t> order_;
};

std::vector<std::uint32_t> drop_unused(const CellTable& cells, bool keep_unnamed) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell)
    if (keep_unnamed || !cells.sequences(cell).empty()) order.push_back(cell);
  return order;
}

}  // namespace

std::vector<std::uint32_t> defrag_order(const CellTable& cells, bool keep_unnamed, bool stable) {
  return stable ? drop_unused(cells, keep_unnamed) : Defragmenter(cells, keep_unnamed).run();
}

void defrag(Plan& plan, const DefragOptions& options) {
  const bool keep_unnamed = format::holds_one_sequence(plan.target.dialect);
  for (Memory& memory : plan.target.state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (Stream& stream : memory.streams)
      reorder(stream, defrag_order(stream.cells, keep_unnamed, options.stable));
  }
}

Plan defrag(std::shared_ptr<const Dump> dump, const DefragOptions& options) {
  Plan plan = Plan::of(std::move(dump));
  defrag(plan, options);
  return plan;
}

}  // namespace kvtool
