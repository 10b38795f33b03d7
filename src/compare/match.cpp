#include "compare/match.h"

#include <algorithm>
#include <tuple>

#include "kvtool/facts.h"

namespace kvtool {
namespace {

auto order_of(const CellKey& key) { return std::tie(key.sequence, key.position, key.x, key.y); }

auto order_of(const CellPlace& place) { return std::tie(place.stream, place.cell); }

// Two dumps of one conversation each are about the same one, whatever number it has in each.
bool one_conversation_each(const Dump& a, const Dump& b) {
  return sequence_ids(a.state).size() <= 1 && sequence_ids(b.state).size() <= 1;
}

bool has_images(const Memory& memory) {
  return std::any_of(memory.streams.begin(), memory.streams.end(), [](const Stream& stream) {
    return stream.cells.extension() != CellExtension::none;
  });
}

// Lists the cells of a memory under the keys that they have.
class Lister {
 public:
  Lister(std::uint32_t memory, bool ignore_ids, bool with_xy, const CompareOptions& options)
      : memory_(memory), ignore_ids_(ignore_ids), with_xy_(with_xy), options_(options) {}

  std::vector<LoneCell> list(const Memory& memory) const {
    std::vector<LoneCell> cells;
    for (std::uint32_t s = 0; s < memory.streams.size(); ++s)
      for (std::uint32_t c = 0; c < memory.streams[s].cells.size(); ++c)
        add(cells, memory.streams[s].cells, {s, c});
    std::stable_sort(cells.begin(), cells.end(), [](const LoneCell& x, const LoneCell& y) {
      return order_of(x.key) < order_of(y.key);
    });
    return cells;
  }

 private:
  void add(std::vector<LoneCell>& cells, const CellTable& table, const CellPlace& place) const {
    const Position position = table.position(place.cell);
    if (position < options_.position_begin || position >= options_.position_end) return;
    const auto ids = table.sequences(place.cell);
    if (ids.empty() && position < 0) return;  // nobody's: what an old session keeps of an unused cell
    CellKey key{memory_, 0, position, 0, 0};
    if (with_xy_) {
      key.x = table.extra(place.cell).x;
      key.y = table.extra(place.cell).y;
    }
    if (ids.empty() || ignore_ids_) {
      if (ids.empty() || wanted(ids.front())) cells.push_back({key, place});
      return;
    }
    for (const SequenceId id : ids) {
      key.sequence = id;
      if (wanted(id)) cells.push_back({key, place});
    }
  }

  bool wanted(SequenceId id) const { return !options_.sequence || *options_.sequence == id; }

  std::uint32_t memory_;
  bool ignore_ids_;
  bool with_xy_;
  const CompareOptions& options_;
};

// Joins two sorted lists; cells of equal keys pair up in file order.
void join(const std::vector<LoneCell>& a, const std::vector<LoneCell>& b, MemoryMatch& match) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && order_of(a[i].key) < order_of(b[j].key)))
      match.only_a.push_back(a[i++]);
    else if (i == a.size() || order_of(b[j].key) < order_of(a[i].key))
      match.only_b.push_back(b[j++]);
    else {
      match.pairs.push_back({a[i].key, a[i].place, b[j].place});
      ++i;
      ++j;
    }
  }
}

// A cell of several sequences was paired once for each of them.
void unite(std::vector<CellPair>& pairs) {
  auto order = [](const CellPair& p) { return std::tuple_cat(order_of(p.a), order_of(p.b)); };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const CellPair& x, const CellPair& y) {
    return order(x) < order(y);
  });
  pairs.erase(std::unique(pairs.begin(), pairs.end(),
                          [&](const CellPair& x, const CellPair& y) { return order(x) == order(y); }),
              pairs.end());
}

}  // namespace

MemoryMatch match_cells(const Dump& a, const Dump& b, std::uint32_t memory,
                        const CompareOptions& options) {
  const Memory& of_a = a.state.memories[memory];
  const Memory& of_b = b.state.memories[memory];
  const Lister lister(memory, one_conversation_each(a, b), has_images(of_a) && has_images(of_b),
                      options);
  MemoryMatch match;
  join(lister.list(of_a), lister.list(of_b), match);
  unite(match.pairs);
  for (const CellPair& pair : match.pairs) match.moved += pair.a == pair.b ? 0U : 1U;
  return match;
}

}  // namespace kvtool
