// defrag --share: sequence by sequence, the longest beginning that an earlier one has too is
// folded.
#include "kvtool/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "edit/equal_prefix.h"
#include "edit/stream_builder.h"
#include "format/container.h"
#include "kvtool/error.h"
#include "kvtool/sequences.h"

namespace kvtool {
namespace {

// A place in a sequence: the cells of an image have one position and places of their own.
struct Place {
  Position position;
  std::int32_t x;
  std::int32_t y;
  auto operator<=>(const Place&) const = default;
};

using CellOf = std::map<Place, std::uint32_t>;

Place place_of(const CellTable& cells, std::size_t cell) {
  const CellExtra extra = cells.extra(cell);
  const bool has_places = cells.extension() != CellExtension::none;
  return {cells.position(cell), has_places ? extra.x : 0, has_places ? extra.y : 0};
}

// Whose each cell of a stream is, while that changes.
class Ownership {
 public:
  explicit Ownership(const CellTable& cells) {
    for (std::uint32_t c = 0; c < cells.size(); ++c) {
      const auto ids = cells.sequences(c);
      owners_.emplace_back(ids.begin(), ids.end());
      for (const SequenceId id : ids) cells_[id].emplace(place_of(cells, c), c);
    }
  }

  const CellOf& cells(SequenceId id) const {
    static const CellOf none;
    const auto found = cells_.find(id);
    return found == cells_.end() ? none : found->second;
  }
  const std::set<SequenceId>& owners(std::uint32_t cell) const { return owners_[cell]; }

  // Sequence `id` gives up its own cell for `cell`.
  void fold(SequenceId id, const Place& place, std::uint32_t cell) {
    std::uint32_t& own = cells_[id].at(place);
    owners_[own].erase(id);
    owners_[cell].insert(id);
    own = cell;
  }

 private:
  std::vector<std::set<SequenceId>> owners_;
  std::map<SequenceId, CellOf> cells_;
};

// One stream of one attention cache.
struct SharedStream {
  Stream* stream;
  Ownership ownership;
};

class Sharer {
 public:
  Sharer(const Dump& dump, double tolerance) : dump_(dump), tolerance_(tolerance) {}

  // Streams of all caches that lie beside each other; the first one keeps every cell.
  std::uint64_t share(std::vector<Stream*> streams) {
    streams_.clear();
    for (Stream* stream : streams) streams_.push_back({stream, Ownership(stream->cells)});
    std::vector<SequenceId> earlier;
    for (const SequenceId id : sequence_ids(*streams.front())) {
      fold_into_best(earlier, id);
      earlier.push_back(id);
    }
    std::uint64_t gone = 0;
    for (SharedStream& shared : streams_) gone += relabel(shared);
    return gone;
  }

 private:
  void fold_into_best(const std::vector<SequenceId>& earlier, SequenceId id) {
    std::vector<Place> best;
    SequenceId with = id;
    for (const SequenceId other : earlier) {
      std::vector<Place> common = common_places(other, id);
      if (common.size() <= best.size()) continue;
      best = std::move(common);
      with = other;
    }
    for (const Place& place : best)
      for (SharedStream& shared : streams_) fold(shared.ownership, place, with, id);
  }

  static void fold(Ownership& ownership, const Place& place, SequenceId with, SequenceId id) {
    const auto mine = ownership.cells(id).find(place);
    const auto theirs = ownership.cells(with).find(place);
    if (mine == ownership.cells(id).end() || theirs == ownership.cells(with).end()) return;
    if (mine->second != theirs->second) ownership.fold(id, place, theirs->second);
  }

  // The places with which both sequences begin alike.
  std::vector<Place> common_places(SequenceId a, SequenceId b) {
    std::vector<Place> places = same_places(a, b);
    for (const SharedStream& shared : streams_) keep_equal(shared, a, b, places);
    return places;
  }

  // Each is asked for with every other sequence, and looks at all cells.
  const std::vector<TokenId>& tokens_of(SequenceId id) {
    const auto [found, fresh] = tokens_.try_emplace(id);
    if (fresh) found->second = known_tokens(dump_, id);
    return found->second;
  }

  std::vector<Place> same_places(SequenceId a, SequenceId b) {
    const std::vector<TokenId>& tokens_a = tokens_of(a);
    const std::vector<TokenId>& tokens_b = tokens_of(b);
    const Ownership& cells = streams_.front().ownership;
    std::vector<Place> places;
    auto x = cells.cells(a).begin();
    auto y = cells.cells(b).begin();
    for (; x != cells.cells(a).end() && y != cells.cells(b).end() && x->first == y->first;
         ++x, ++y) {
      const std::size_t i = places.size();
      if (i < tokens_a.size() && i < tokens_b.size() && tokens_a[i] != tokens_b[i]) break;
      places.push_back(x->first);
    }
    return places;
  }

  // A window cache need not have all the places.
  void keep_equal(const SharedStream& shared, SequenceId a, SequenceId b,
                  std::vector<Place>& places) const {
    std::vector<CellIndices> pairs;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto x = shared.ownership.cells(a).find(places[i]);
      const auto y = shared.ownership.cells(b).find(places[i]);
      if (x == shared.ownership.cells(a).end() || y == shared.ownership.cells(b).end()) continue;
      pairs.emplace_back(x->second, y->second);
      which.push_back(i);
    }
    const std::size_t equal = equal_prefix(*dump_.source, *shared.stream, pairs, tolerance_);
    if (equal < pairs.size()) places.resize(which[equal]);
  }

  static std::uint64_t relabel(SharedStream& shared) {
    const std::size_t before = shared.stream->cells.size();
    std::uint32_t at = 0;
    rebuild(*shared.stream, [&](StreamCell& cell, StreamBuilder& builder) {
      const auto& owners = shared.ownership.owners(at++);
      const bool was_unused = cell.ids.empty();
      cell.ids.assign(owners.begin(), owners.end());
      if (!cell.ids.empty() || was_unused) builder.append(cell);
    });
    return before - shared.stream->cells.size();
  }

  const Dump& dump_;
  double tolerance_;
  std::vector<SharedStream> streams_;
  std::map<SequenceId, std::vector<TokenId>> tokens_;
};

// Attention caches, those that keep every cell first.
std::vector<Memory*> caches_of(State& state) {
  std::vector<Memory*> caches;
  for (Memory& memory : state.memories)
    if (memory.kind == MemoryKind::attention) caches.push_back(&memory);
  std::ranges::stable_sort(caches, {}, [](const Memory* m) { return m->role == "window"; });
  return caches;
}

}  // namespace

std::uint64_t share_equal_cells(Plan& plan, double tolerance) {
  const Dump& source = *plan.sources.front();
  if (format::holds_one_sequence(source.dialect))
    throw Error(ErrorKind::refused, "one sequence has nothing to share");
  const std::vector<Memory*> caches = caches_of(plan.target.state);
  if (caches.empty()) return 0;
  Sharer sharer(source, tolerance);
  std::uint64_t gone = 0;
  for (std::size_t s = 0; s < caches.front()->streams.size(); ++s) {
    std::vector<Stream*> streams;
    for (Memory* memory : caches)
      if (s < memory->streams.size()) streams.push_back(&memory->streams[s]);
    gone += sharer.share(streams);
  }
  return gone;
}

}  // namespace kvtool
