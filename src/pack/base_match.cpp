#include "pack/base_match.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "kvtool/facts.h"

namespace kvtool::packing {
namespace {

// What makes two cells the same one: sequence, position, and place inside an image.
using CellKey = std::tuple<SequenceId, Position, std::int32_t, std::int32_t>;
using KeyedCell = std::pair<CellKey, std::uint32_t>;

// A dump of one sequence may call it by any number, or by none.
std::vector<SequenceId> names_of(const CellTable& cells, std::size_t cell, bool one_sequence) {
  if (one_sequence) return {0};
  const auto ids = cells.sequences(cell);
  return {ids.begin(), ids.end()};
}

CellKey key_of(const CellTable& cells, std::size_t cell, SequenceId name) {
  const CellExtra extra = cells.extra(cell);
  return {name, cells.position(cell), extra.x, extra.y};
}

std::vector<KeyedCell> keyed_cells(const CellTable& cells, bool one_sequence) {
  std::vector<KeyedCell> keyed;
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    for (const SequenceId name : names_of(cells, cell, one_sequence))
      keyed.emplace_back(key_of(cells, cell, name), static_cast<std::uint32_t>(cell));
  std::sort(keyed.begin(), keyed.end());
  return keyed;
}

// The position from which the tokens of two dumps differ; none: the largest there is.
Position first_difference(const Dump& a, const Dump& b) {
  const auto& left = a.tokens.ids;
  const auto& right = b.tokens.ids;
  const auto [at, other] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (at == left.end() || other == right.end()) return std::numeric_limits<Position>::max();
  return static_cast<Position>(at - left.begin());
}

class Matcher {
 public:
  Matcher(const Dump& dump, const Dump& base, std::vector<CellMap>& maps)
      : one_sequence_(holds_one_sequence(dump)), base_one_sequence_(holds_one_sequence(base)),
        limit_(first_difference(dump, base)), maps_(maps) {}

  // The number of the map from one stream to the other; none if they share no cells.
  std::optional<std::uint32_t> map(const Stream& stream, const Stream& base) {
    const auto [known, is_new] = numbers_.try_emplace({&stream, &base});
    if (is_new) known->second = make(stream, base);
    return known->second;
  }

 private:
  std::optional<std::uint32_t> make(const Stream& stream, const Stream& base) {
    CellMap map;
    map.cells = static_cast<std::uint32_t>(stream.cells.size());
    map.base_cells = static_cast<std::uint32_t>(base.cells.size());
    const auto keyed = keyed_cells(base.cells, base_one_sequence_);
    for (std::uint32_t cell = 0; cell < map.cells; ++cell)
      if (const auto found = find(stream.cells, cell, keyed)) add(map, cell, *found);
    if (map.runs.empty()) return std::nullopt;
    maps_.push_back(std::move(map));
    return static_cast<std::uint32_t>(maps_.size() - 1);
  }

  std::optional<std::uint32_t> find(const CellTable& cells, std::uint32_t cell,
                                    const std::vector<KeyedCell>& keyed) const {
    if (cells.position(cell) >= limit_) return std::nullopt;
    for (const SequenceId name : names_of(cells, cell, one_sequence_ || base_one_sequence_)) {
      const CellKey key = key_of(cells, cell, name);
      const auto at = std::lower_bound(keyed.begin(), keyed.end(), KeyedCell{key, 0});
      if (at != keyed.end() && at->first == key) return at->second;
    }
    return std::nullopt;
  }

  static void add(CellMap& map, std::uint32_t cell, std::uint32_t base_cell) {
    if (!map.runs.empty()) {
      CellMap::Run& last = map.runs.back();
      if (last.cell + last.count == cell && last.base_cell + last.count == base_cell) {
        ++last.count;
        return;
      }
    }
    map.runs.push_back({cell, base_cell, 1});
  }

  bool one_sequence_;
  bool base_one_sequence_;
  Position limit_;
  std::vector<CellMap>& maps_;
  std::map<std::pair<const Stream*, const Stream*>, std::optional<std::uint32_t>> numbers_;
};

Difference difference_of(ElementType type) {
  switch (type) {
    case ElementType::f16:
    case ElementType::bf16: return Difference::words_16;
    case ElementType::f32: return Difference::words_32;
    default: return Difference::bytes;
  }
}

void set_base(Section& section, const Tensor& tensor, const Tensor& base, std::uint32_t map) {
  section.has_base = true;
  section.base.transposed = tensor.orientation == Orientation::transposed;
  section.base.map = map;
  section.base.cell_bytes = static_cast<std::uint32_t>(
      section.base.transposed ? tensor.element_bytes : tensor.row_bytes);
  section.base.offset = base.extent.offset;
  // Parts are by type only if rows are whole blocks; otherwise words would not be whole either.
  section.base.difference =
      section.parts.size() > 1 ? difference_of(tensor.type) : Difference::bytes;
}

}  // namespace

void match_base(const Dump& dump, const Dump& base, Outline& outline, std::vector<CellMap>& maps) {
  const Outline other = outline_of(base);
  std::map<std::string, const SectionOrigin*> by_label;
  for (std::size_t i = 0; i < other.sections.size(); ++i)
    if (other.origins[i].tensor != nullptr)
      by_label[other.sections[i].label] = &other.origins[i];
  Matcher matcher(dump, base, maps);
  for (std::size_t i = 0; i < outline.sections.size(); ++i) {
    const SectionOrigin& origin = outline.origins[i];
    const auto found = by_label.find(outline.sections[i].label);
    if (origin.tensor == nullptr || found == by_label.end()) continue;
    const Tensor& tensor = *found->second->tensor;
    if (!same_form(*origin.tensor, tensor) || tensor.row_bytes > 0xffffffffU) continue;
    if (const auto map = matcher.map(*origin.stream, *found->second->stream))
      set_base(outline.sections[i], *origin.tensor, tensor, *map);
  }
}

}  // namespace kvtool::packing
