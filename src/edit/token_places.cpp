#include "edit/token_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "edit/members.h"
#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

using Key = std::optional<SequenceId>;

struct ListedCell {
  Position position;
  TokenId token;          // as the cell names it; -1: not at all
  std::uint64_t cell = 0; // which of all cells it is
  bool operator<(const ListedCell& other) const { return position < other.position; }
};

// The cells of each sequence in the memory that keeps them all, by position.
std::map<Key, std::vector<ListedCell>> places_by_sequence(const Memory& memory, bool one) {
  std::map<Key, std::vector<ListedCell>> places;
  std::uint64_t number = 0;
  for (const Stream& stream : memory.streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const ListedCell place{stream.cells.position(c), stream.cells.extra(c).token, number++};
      const auto ids = stream.cells.sequences(c);
      if (one) places[Key{}].push_back(place);
      else
        for (const SequenceId id : ids) places[id].push_back(place);
    }
  for (auto& [id, list] : places) std::stable_sort(list.begin(), list.end());
  return places;
}

// A recurrent memory stands for every position up to its cell's.
std::map<Key, std::vector<ListedCell>> places_behind_states(const Memory& memory, bool one) {
  std::map<Key, std::vector<ListedCell>> places = places_by_sequence(memory, one);
  for (auto& [id, list] : places) {
    const Position last = list.back().position;
    list.clear();
    for (Position p = 0; p <= last; ++p) list.push_back({p, -1, 0});
  }
  return places;
}

const Memory* first_of(const State& state, MemoryKind kind) {
  for (const Memory& memory : state.memories)
    if (memory.kind == kind && memory.role != "window") return &memory;
  return nullptr;
}

std::map<Key, std::vector<ListedCell>> all_places(const Dump& dump) {
  const bool one = format::holds_one_sequence(dump.dialect);
  if (const Memory* base = memory_of_all_cells(dump.state))
    return places_by_sequence(*base, one);
  if (const Memory* recurrent = first_of(dump.state, MemoryKind::recurrent))
    return places_behind_states(*recurrent, one);
  return {};
}

// The list has a token for every cell, and perhaps the one that comes next.
bool fits(const std::vector<ListedCell>& places, const std::vector<TokenId>& ids) {
  if (ids.size() != places.size() && ids.size() != places.size() + 1) return false;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i].token >= 0 && ids[i] >= 0 && places[i].token != ids[i]) return false;
  return true;
}

// Sequences that share every cell have the same tokens.
bool same_cells(const std::vector<ListedCell>& a, const std::vector<ListedCell>& b) {
  return std::ranges::equal(a, b, {}, &ListedCell::cell, &ListedCell::cell);
}

std::vector<std::int64_t> positions_of(const std::vector<ListedCell>& places, std::size_t tokens) {
  std::vector<std::int64_t> positions;
  positions.reserve(tokens);
  for (const ListedCell& place : places) positions.push_back(place.position);
  if (positions.size() < tokens) positions.push_back(positions.empty() ? 0 : positions.back() + 1);
  return positions;
}

bool goes(const PositionMap& map, std::int64_t position) {
  return map.removes(static_cast<Position>(position));
}

// The tokens that stay, in the order of their new positions.
std::vector<std::size_t> order_after(const TokenPlaces& places, const PositionMap& map) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < places.positions.size(); ++i)
    if (!goes(map, places.positions[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return map.target_of(static_cast<Position>(places.positions[a])) <
           map.target_of(static_cast<Position>(places.positions[b]));
  });
  return order;
}

// Throws unless every medium stays whole or goes whole.
void require_whole_media(const TokenArea& tokens, const TokenPlaces& places,
                         const PositionMap& map) {
  for (const MediaSpan& span : tokens.media) {
    const std::size_t end = std::size_t{span.start} + span.tokens;
    if (span.tokens == 0 || end > places.positions.size()) continue;
    const std::int64_t first = places.positions[span.start];
    const std::int64_t behind = end < places.positions.size() ? places.positions[end]
                                                              : places.positions[end - 1] + 1;
    if (!map.cuts(first, behind)) continue;
    throw Error(ErrorKind::refused,
                fmt::format("the positions go through an {}, which takes {}:{}",
                            span.kind == "unknown" ? "image or sound" : span.kind, first, behind));
  }
}

// The media that stay, with their new places.
std::vector<MediaChunk> moved_media(const TokenArea& tokens,
                                    const std::vector<std::size_t>& order) {
  std::vector<MediaChunk> chunks;
  for (MediaChunk chunk : media_chunks(tokens)) {
    const auto at = std::ranges::find(order, std::size_t{chunk.start});
    if (at == order.end()) continue;
    chunk.start = static_cast<std::uint32_t>(at - order.begin());
    chunks.push_back(chunk);
  }
  std::ranges::stable_sort(chunks, {}, &MediaChunk::start);
  return chunks;
}

}  // namespace

const Memory* memory_of_all_cells(const State& state) {
  return first_of(state, MemoryKind::attention);
}

std::optional<TokenPlaces> token_places(const Dump& dump) {
  if (!format::has_header(dump.dialect) || dump.tokens.ids.empty()) return std::nullopt;
  const auto all = all_places(dump);
  const std::map<Key, std::vector<ListedCell>>::value_type* found = nullptr;
  for (const auto& one : all) {
    if (!fits(one.second, dump.tokens.ids)) continue;
    if (found != nullptr && !same_cells(found->second, one.second)) return std::nullopt;
    if (found == nullptr) found = &one;
  }
  if (found == nullptr) return std::nullopt;
  return TokenPlaces{found->first, positions_of(found->second, dump.tokens.ids.size())};
}

TokenArea changed_tokens(const TokenArea& tokens, const TokenPlaces& places,
                         const PositionMap& map) {
  require_whole_media(tokens, places, map);
  const std::vector<std::size_t> order = order_after(places, map);
  std::vector<TokenId> ids;
  ids.reserve(order.size());
  for (const std::size_t i : order) ids.push_back(tokens.ids[i]);
  if (ids == tokens.ids) return tokens;
  require_understood(tokens);
  if (tokens.form == TokenForm::plain) return decode_tokens(ids);
  return decode_tokens(encode_payload(ids, moved_media(tokens, order)));
}

std::uint64_t tokens_left(const TokenPlaces& places, const PositionMap& map, std::uint64_t count) {
  std::uint64_t left = 0;
  for (std::size_t i = 0; i < places.positions.size() && i < count; ++i)
    left += goes(map, places.positions[i]) ? 0U : 1U;
  return left;
}

TokenArea tokens_like(const TokenArea& like, const std::vector<TokenId>& ids) {
  return decode_tokens(like.form == TokenForm::payload ? encode_payload(ids, {}) : ids);
}

}  // namespace kvtool
