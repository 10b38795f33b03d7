#include "kvtool/facts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "format/container.h"
#include "format/state.h"
#include "kvtool/checked.h"

namespace kvtool {
namespace {

using CellList = std::vector<std::uint32_t>;

// The cells of each sequence in file order; the key is empty for cells that store no id.
std::map<std::optional<SequenceId>, CellList> cells_by_sequence(const CellTable& cells,
                                                                bool one_sequence) {
  std::map<std::optional<SequenceId>, CellList> lists;
  for (std::uint32_t cell = 0; cell < cells.size(); ++cell) {
    const auto ids = cells.sequences(cell);
    for (const SequenceId id : ids)
      if (lists[id].empty() || lists[id].back() != cell) lists[id].push_back(cell);
    if (ids.empty() && one_sequence) lists[std::nullopt].push_back(cell);
  }
  return lists;
}

std::uint64_t runs_in(const CellTable& cells, const CellList& list) {
  std::uint64_t runs = list.empty() ? 0 : 1;
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i] != list[i - 1] + 1 || cells.position(list[i]) < cells.position(list[i - 1])) ++runs;
  return runs;
}

std::uint64_t duplicates_in(const CellTable& cells, const CellList& list) {
  std::vector<std::tuple<Position, std::int32_t, std::int32_t>> places;
  places.reserve(list.size());
  for (const std::uint32_t cell : list) {
    const CellExtra extra = cells.extra(cell);
    places.emplace_back(cells.position(cell), extra.x, extra.y);
  }
  std::sort(places.begin(), places.end());
  std::uint64_t repeated = 0;
  for (std::size_t i = 1; i < places.size(); ++i) repeated += places[i] == places[i - 1] ? 1U : 0U;
  return repeated;
}

// Positions a cell covers: its own, or as far as the image it belongs to reaches in x and y.
PositionRange covered(const CellTable& cells, std::uint32_t cell) {
  const CellExtra extra = cells.extra(cell);
  const Position first = cells.position(cell);
  return {first, std::int64_t{std::max({first, extra.x, extra.y})} + 1};
}

std::vector<PositionRange> gaps_in(const CellTable& cells, const CellList& list) {
  std::vector<PositionRange> taken;
  taken.reserve(list.size());
  for (const std::uint32_t cell : list) taken.push_back(covered(cells, cell));
  std::sort(taken.begin(), taken.end(),
            [](const PositionRange& a, const PositionRange& b) { return a.begin < b.begin; });
  std::vector<PositionRange> gaps;
  std::int64_t end = taken.empty() ? 0 : taken.front().begin;
  for (const PositionRange& range : taken) {
    if (range.begin > end) gaps.push_back({end, range.begin});
    end = std::max(end, range.end);
  }
  return gaps;
}

SequenceFacts facts_of(std::optional<SequenceId> id, const CellTable& cells, const CellList& list) {
  SequenceFacts facts;
  facts.id = id;
  facts.cells = list.size();
  const auto [least, most] =
      std::minmax_element(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
        return cells.position(a) < cells.position(b);
      });
  facts.pos_min = cells.position(*least);
  facts.pos_max = cells.position(*most);
  facts.missing = gaps_in(cells, list);
  for (const PositionRange& gap : facts.missing)
    facts.holes += static_cast<std::uint64_t>(gap.end - gap.begin);
  facts.runs = runs_in(cells, list);
  facts.duplicates = duplicates_in(cells, list);
  return facts;
}

std::uint64_t extension_bytes(CellExtension extension) {
  switch (extension) {
    case CellExtension::none: return 0;
    case CellExtension::xy: return 8;
    case CellExtension::xy_token: return 12;
  }
  return 0;
}

std::uint64_t label_bytes(const Memory& memory, const Dialect& dialect) {
  const bool attention = memory.kind == MemoryKind::attention;
  const bool one = format::holds_one_sequence(dialect);
  if (dialect.body == Body::pool || dialect.body == Body::k_then_v) return 0;
  if (dialect.body == Body::typed_slot) return 4;
  if (dialect.body != Body::current) return 16;  // of one sequence
  const std::uint64_t ids = one && (!attention || !dialect.sequence_ids) ? 0 : 4;
  return 8 + ids + (attention ? extension_bytes(dialect.extension) : 0);
}

std::uint64_t tensor_bytes_per_cell(const Stream& stream) {
  std::uint64_t bytes = 0;
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v, &layer.ple})
      bytes = checked_add(bytes, tensor->cell_bytes());
  return bytes;
}

// Position p is the p-th id of the list when one sequence has ids for all its positions, each
// position once, and nothing but text.
bool tokens_follow_positions(const Dump& dump, const std::vector<SequenceFacts>& sequences) {
  if (sequences.size() != 1 || !dump.tokens.media.empty()) return false;
  const SequenceFacts& s = sequences.front();
  const std::uint64_t ids = dump.tokens.ids.size();
  const auto covered_ids = static_cast<std::uint64_t>(std::int64_t{s.pos_max} + 1);
  return s.pos_min >= 0 && s.holes == 0 && s.duplicates == 0 &&
         (ids == covered_ids || ids == covered_ids + 1);
}

}  // namespace

std::vector<SequenceFacts> sequences_of(const Stream& stream, bool one_sequence) {
  std::vector<SequenceFacts> facts;
  for (const auto& [id, list] : cells_by_sequence(stream.cells, one_sequence))
    facts.push_back(facts_of(id, stream.cells, list));
  return facts;
}

std::vector<SequenceFacts> sequences_of(const Memory& memory, bool one_sequence) {
  if (memory.streams.size() == 1) return sequences_of(memory.streams.front(), one_sequence);
  std::map<std::optional<SequenceId>, SequenceFacts> all;
  for (const Stream& stream : memory.streams)
    for (SequenceFacts& facts : sequences_of(stream, one_sequence)) {
      const auto [at, fresh] = all.try_emplace(facts.id, facts);
      if (fresh) continue;
      SequenceFacts& sum = at->second;
      sum.cells += facts.cells;
      sum.runs += facts.runs;
      sum.holes += facts.holes;
      sum.duplicates += facts.duplicates;
      sum.pos_min = std::min(sum.pos_min, facts.pos_min);
      sum.pos_max = std::max(sum.pos_max, facts.pos_max);
      sum.missing.insert(sum.missing.end(), facts.missing.begin(), facts.missing.end());
    }
  std::vector<SequenceFacts> list;
  list.reserve(all.size());
  for (auto& [id, facts] : all) list.push_back(std::move(facts));
  return list;
}

bool holds_one_sequence(const Dump& dump) { return format::holds_one_sequence(dump.dialect); }

std::string v_layout_of(const Memory& memory) {
  std::set<Orientation> seen;
  for (const Stream& stream : memory.streams)
    for (const Layer& layer : stream.layers) seen.insert(layer.v.orientation);
  if (seen.size() == 2) seen.erase(Orientation::absent);  // layers without a cache (ik_llama.cpp)
  if (seen.size() > 1) return "mixed";
  return seen.empty() ? "none" : name_of(*seen.begin());
}

std::uint64_t bytes_per_cell(const Memory& memory, const Dialect& dialect) {
  std::uint64_t tensors = 0;
  for (const Stream& stream : memory.streams)
    tensors = std::max(tensors, tensor_bytes_per_cell(stream));
  return memory.kind == MemoryKind::verbatim ? 0 : label_bytes(memory, dialect) + tensors;
}

std::uint64_t cells_of(const Memory& memory) {
  std::uint64_t cells = 0;
  for (const Stream& stream : memory.streams) cells += stream.cells.size();
  return cells;
}

std::vector<std::optional<TokenId>> cell_tokens(const Dump& dump, const Stream& stream) {
  std::vector<std::optional<TokenId>> tokens(stream.cells.size());
  if (stream.cells.extension() == CellExtension::xy_token) {
    for (std::size_t c = 0; c < tokens.size(); ++c) tokens[c] = stream.cells.extra(c).token;
    return tokens;
  }
  if (!tokens_follow_positions(dump, sequences_of(stream, holds_one_sequence(dump)))) return tokens;
  for (std::size_t c = 0; c < tokens.size(); ++c)
    tokens[c] = dump.tokens.ids[static_cast<std::size_t>(stream.cells.position(c))];
  return tokens;
}

std::string name_of(Family family) {
  return family == Family::llama_cpp ? "llama.cpp" : "ik_llama.cpp";
}

std::string name_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::attention: return "attention";
    case MemoryKind::recurrent: return "recurrent";
    case MemoryKind::verbatim: return "verbatim";
  }
  return {};
}

std::string name_of(Orientation orientation) {
  switch (orientation) {
    case Orientation::absent: return "absent";
    case Orientation::rows: return "rows";
    case Orientation::transposed: return "transposed";
  }
  return {};
}

std::string kind_of(const Dump& dump) {
  switch (dump.dialect.container) {
    case Container::session: return "session";
    case Container::slot: return "slot";
    case Container::state:
    case Container::sequence_state: return "state";
  }
  return {};
}

}  // namespace kvtool
