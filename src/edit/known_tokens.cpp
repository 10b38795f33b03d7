#include "edit/known_tokens.h"

#include <algorithm>

#include "format/container.h"
#include "kvtool/sequences.h"

namespace kvtool {

KnownTokens::KnownTokens(const Dump& dump)
    : dump_(dump),
      one_(format::holds_one_sequence(dump.dialect)),
      named_(dump.dialect.extension == CellExtension::xy_token),
      places_(token_places(dump)) {
  const Memory* base = memory_of_all_cells(dump.state);
  if (base == nullptr || (!named_ && !places_)) return;
  std::uint64_t number = 0;
  for (const Stream& stream : base->streams) add_cells(stream.cells, number);
  for (auto& [id, cells] : cells_) std::ranges::stable_sort(cells, {}, &Cell::position);
}

void KnownTokens::add_cells(const CellTable& table, std::uint64_t& number) {
  for (std::size_t c = 0; c < table.size(); ++c) {
    const auto ids = table.sequences(c);
    const bool listed = places_ && (one_ || std::ranges::find(ids, places_->sequence) != ids.end());
    const Cell cell{table.position(c), table.extra(c).token, listed, number++};
    if (one_) cells_[0].push_back(cell);
    if (one_) continue;
    for (const SequenceId id : ids)
      if (Cells& cells = cells_[id]; cells.empty() || cells.back().number != cell.number)
        cells.push_back(cell);  // an id that a cell lists twice counts once
  }
}

// A shared cell is the same token; both sequences begin with it as long as all were shared.
std::optional<TokenId> KnownTokens::next(const Cell& cell, std::size_t index) const {
  if (named_) return cell.token;
  const bool from_list = places_ && cell.listed && index < places_->positions.size() &&
                         places_->positions[index] == cell.position;
  return from_list ? std::optional(dump_.tokens.ids[index]) : std::nullopt;
}

std::vector<TokenId> KnownTokens::of(SequenceId sequence) const {
  if (places_ && (one_ || places_->sequence == sequence)) return dump_.tokens.ids;
  std::vector<TokenId> ids;
  const auto cells = cells_.find(one_ ? 0 : sequence);
  if (cells == cells_.end()) return ids;
  for (const Cell& cell : cells->second) {
    const std::optional<TokenId> token = next(cell, ids.size());
    if (!token) break;
    ids.push_back(*token);
  }
  return ids;
}

std::vector<TokenId> known_tokens(const Dump& dump, SequenceId sequence) {
  return KnownTokens(dump).of(sequence);
}

}  // namespace kvtool
