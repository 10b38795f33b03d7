// kvtool/share.h the slow and obvious way: every sequence is compared with every earlier one.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kvtool/sequences.h"
#include "support/contents.h"

namespace kvtool::test {

// The ids of the cells of the streams that lie beside each other, and how they become fewer.
class SlowShare {
 public:
  using PlaceOfCell = std::tuple<Position, std::int32_t, std::int32_t>;
  using Owners = std::vector<std::set<SequenceId>>;  // of each cell

  // The streams with this number, the first of which has every cell.
  SlowShare(const Dump& dump, std::vector<const Stream*> streams, double tolerance)
      : dump_(dump), streams_(std::move(streams)), tolerance_(tolerance) {
    for (const Stream* stream : streams_) read_labels(*stream);
    for (const auto& [id, cells] : cells_.front()) fold_into_best(id);
  }

  // Of a stream, after all has been folded.
  [[nodiscard]] const Owners& owners(std::size_t stream) const { return owners_[stream]; }

 private:
  using Cells = std::map<PlaceOfCell, std::size_t>;

  void read_labels(const Stream& stream) {
    Owners& owners = owners_.emplace_back(stream.cells.size());
    auto& cells = cells_.emplace_back();
    const bool plain = stream.cells.extension() == CellExtension::none;
    for (std::size_t c = 0; c < stream.cells.size(); ++c)
      for (const SequenceId id : stream.cells.sequences(c)) {
        const CellExtra extra = plain ? CellExtra{} : stream.cells.extra(c);
        cells[id].emplace(PlaceOfCell{stream.cells.position(c), extra.x, extra.y}, c);
        owners[c].insert(id);
      }
  }

  void fold_into_best(SequenceId id) {
    std::vector<PlaceOfCell> best;
    SequenceId with = id;
    for (SequenceId other = 0; other < id; ++other) {
      const std::vector<PlaceOfCell> common = common_places(other, id);
      if (common.size() <= best.size()) continue;
      best = common;
      with = other;
    }
    for (const PlaceOfCell& place : best)
      for (std::size_t s = 0; s < streams_.size(); ++s) fold(s, place, with, id);
  }

  void fold(std::size_t s, const PlaceOfCell& place, SequenceId with, SequenceId id) {
    if (cells_[s][id].count(place) == 0 || cells_[s][with].count(place) == 0) return;
    std::size_t& own = cells_[s][id][place];
    owners_[s][own].erase(id);
    own = cells_[s][with][place];
    owners_[s][own].insert(id);
  }

  std::vector<PlaceOfCell> common_places(SequenceId a, SequenceId b) {
    std::vector<PlaceOfCell> places;
    const std::vector<TokenId> tokens_a = known_tokens(dump_, a);
    const std::vector<TokenId> tokens_b = known_tokens(dump_, b);
    const Cells& theirs = cells_.front()[a];
    const Cells& mine = cells_.front()[b];
    for (auto x = theirs.begin(), y = mine.begin(); x != theirs.end() && y != mine.end();
         ++x, ++y) {
      const std::size_t i = places.size();
      if (x->first != y->first || !same_everywhere(a, b, x->first)) break;
      if (i < tokens_a.size() && i < tokens_b.size() && tokens_a[i] != tokens_b[i]) break;
      places.push_back(x->first);
    }
    return places;
  }

  bool same_everywhere(SequenceId a, SequenceId b, const PlaceOfCell& place) {
    for (std::size_t s = 0; s < streams_.size(); ++s) {
      const auto x = cells_[s][a].find(place);
      const auto y = cells_[s][b].find(place);
      if (x == cells_[s][a].end() || y == cells_[s][b].end()) continue;  // a window lacks some
      if (x->second != y->second && !same(*streams_[s], x->second, y->second)) return false;
    }
    return true;
  }

  [[nodiscard]] bool same(const Stream& stream, std::size_t a, std::size_t b) const {
    for (const Layer& layer : stream.layers)
      for (const Tensor* tensor : {&layer.k, &layer.v})
        if (!same_bytes(stream, *tensor, a, b) && !near(stream, *tensor, a, b)) return false;
    return true;
  }

  [[nodiscard]] bool same_bytes(const Stream& stream, const Tensor& tensor, std::size_t a,
                                std::size_t b) const {
    return std::ranges::equal(cell_payload(dump_, stream, tensor, a),
                              cell_payload(dump_, stream, tensor, b));
  }

  [[nodiscard]] bool near(const Stream& stream, const Tensor& tensor, std::size_t a,
                          std::size_t b) const {
    if (tolerance_ <= 0) return false;
    return std::ranges::equal(
        cell_values(dump_, stream, tensor, a), cell_values(dump_, stream, tensor, b),
        [&](float x, float y) { return std::abs(double{x} - y) <= tolerance_; });
  }

  const Dump& dump_;
  std::vector<const Stream*> streams_;
  double tolerance_;
  std::vector<Owners> owners_;
  std::vector<std::map<SequenceId, Cells>> cells_;  // of each stream and sequence, by place
};

}  // namespace kvtool::test
