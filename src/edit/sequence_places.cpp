#include "edit/sequence_places.h"

#include <algorithm>
#include <map>

namespace kvtool {
namespace {

using Cells = std::vector<std::uint32_t>;

// The cells of each sequence by place, one for each.
std::map<SequenceId, Cells> cells_by_sequence(const CellTable& table) {
  std::map<SequenceId, Cells> lists;
  for (std::uint32_t c = 0; c < table.size(); ++c)
    for (const SequenceId id : table.sequences(c)) lists[id].push_back(c);
  const auto place = [&](std::uint32_t cell) { return place_of(table, cell); };
  for (auto& [id, list] : lists) {
    std::ranges::stable_sort(list, {}, place);
    const auto same = [&](std::uint32_t a, std::uint32_t b) { return place(a) == place(b); };
    list.erase(std::unique(list.begin(), list.end(), same), list.end());
  }
  return lists;
}

// For each cell of `wanted` the one of `cells` at the same place. Both ascend.
Cells beside(const CellTable& wanted_table, const Cells& wanted, const CellTable& table,
             const Cells& cells) {
  Cells found;
  found.reserve(wanted.size());
  auto next = cells.begin();
  for (const std::uint32_t cell : wanted) {
    const CellPlace place = place_of(wanted_table, cell);
    while (next != cells.end() && place_of(table, *next) < place) ++next;
    const bool there = next != cells.end() && place_of(table, *next) == place;
    found.push_back(there ? *next : no_cell);
  }
  return found;
}

}  // namespace

CellPlace place_of(const CellTable& cells, std::size_t cell) {
  if (cells.extension() == CellExtension::none) return {cells.position(cell), 0, 0};
  const CellExtra extra = cells.extra(cell);
  return {cells.position(cell), extra.x, extra.y};
}

std::vector<PlacedSequence> placed_sequences(const std::vector<const Stream*>& streams) {
  const CellTable& first = streams.front()->cells;
  std::vector<PlacedSequence> sequences;
  for (auto& [id, cells] : cells_by_sequence(first)) sequences.push_back({id, {cells}, {}});
  for (std::size_t s = 1; s < streams.size(); ++s) {
    const CellTable& table = streams[s]->cells;
    auto lists = cells_by_sequence(table);
    for (PlacedSequence& sequence : sequences)
      sequence.cells.push_back(beside(first, sequence.cells.front(), table, lists[sequence.id]));
  }
  return sequences;
}

}  // namespace kvtool
