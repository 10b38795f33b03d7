// Sequences that begin alike byte for byte: told by digests, then proved.
#include <algorithm>

#include "edit/beginnings.h"
#include "edit/cell_digests.h"
#include "edit/equal_prefix.h"
#include "edit/likeness.h"

namespace kvtool {
namespace {

// K of the first layer depends on nothing but the token and its position, so it mostly tells where
// sequences part, and the rest of what follows there need not be read.
const Tensor* telling_tensor(const SharedStreams& shared) {
  const std::vector<Layer>& layers = shared.streams.front()->layers;
  return layers.empty() ? nullptr : &layers.front().k;
}

// The digests of the cells of all streams, as far as sequences are alike.
class Digests {
 public:
  Digests(const SharedStreams& shared, std::uint64_t mask) : shared_(shared) {
    for (const Stream* stream : shared.streams)
      digests_.emplace_back(*shared.source, *stream, mask);
  }

  std::vector<Beginning> longest() {
    const Tensor* first = telling_tensor(shared_);
    Likeness likeness(shared_.sequences, shared_.streams, digests_);
    add(likeness.reaches(), [&](const Tensor& tensor) { return &tensor == first; });
    likeness.link();
    add(likeness.reaches(), [&](const Tensor& tensor) { return &tensor != first; });
    likeness.link();
    return longest_by(likeness);
  }

 private:
  // Takes in the chosen tensors, for cells within the reach of their sequences.
  template <class IsChosen>
  void add(const std::vector<std::size_t>& reaches, const IsChosen& is_chosen) {
    for (std::size_t s = 0; s < digests_.size(); ++s) {
      const std::vector<bool> wanted = cells_within(s, reaches);
      for (const Layer& layer : shared_.streams[s]->layers)
        for (const Tensor* tensor : {&layer.k, &layer.v})
          if (is_chosen(*tensor)) digests_[s].add(*tensor, wanted);
    }
  }

  std::vector<bool> cells_within(std::size_t s, const std::vector<std::size_t>& reaches) const {
    std::vector<bool> wanted(shared_.streams[s]->cells.size(), false);
    for (std::size_t q = 0; q < reaches.size(); ++q)
      for (std::size_t i = 0; i < reaches[q]; ++i)
        if (const std::uint32_t cell = shared_.sequences[q].cells[s][i]; cell != no_cell)
          wanted[cell] = true;
    return wanted;
  }

  std::vector<Beginning> longest_by(const Likeness& likeness) const {
    std::vector<Beginning> best(shared_.sequences.size());
    for (std::size_t b = 0; b < best.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (const std::size_t common = likeness.common(a, b); common > best[b].length)
          best[b] = {a, common};
    return best;
  }

  const SharedStreams& shared_;
  std::vector<CellDigests> digests_;
};

// Two different cells that are said to be equal.
struct Claim {
  CellIndices pair;
  std::size_t sequence;  // whose beginning needs them to be
  std::size_t place;
};

std::vector<Claim> claims_in(const SharedStreams& shared, std::size_t s,
                             const std::vector<Beginning>& found) {
  std::vector<Claim> claims;
  for (std::size_t b = 0; b < found.size(); ++b)
    for (std::size_t i = 0; i < found[b].length; ++i) {
      const std::uint32_t x = shared.sequences[found[b].with].cells[s][i];
      const std::uint32_t y = shared.sequences[b].cells[s][i];
      if (x != no_cell && y != no_cell && x != y) claims.push_back({{x, y}, b, i});
    }
  std::ranges::sort(claims, {}, &Claim::pair);
  return claims;
}

std::vector<CellIndices> pairs_of(const std::vector<Claim>& claims) {
  std::vector<CellIndices> pairs;
  for (const Claim& claim : claims)
    if (pairs.empty() || pairs.back() != claim.pair) pairs.push_back(claim.pair);
  return pairs;
}

// Shortens what is found to the places before the first claim that does not hold.
void keep_proved(const SharedStreams& shared, std::size_t s, std::vector<Beginning>& found) {
  const std::vector<Claim> claims = claims_in(shared, s, found);
  const std::vector<CellIndices> unequal =
      unequal_pairs(*shared.source, *shared.streams[s], pairs_of(claims));
  for (const Claim& claim : claims)
    if (std::ranges::binary_search(unequal, claim.pair))
      found[claim.sequence].length = std::min(found[claim.sequence].length, claim.place);
}

}  // namespace

std::vector<Beginning> equal_beginnings(const SharedStreams& shared, std::uint64_t digest_mask) {
  std::vector<Beginning> found = Digests(shared, digest_mask).longest();
  for (std::size_t s = 0; s < shared.streams.size(); ++s) keep_proved(shared, s, found);
  return found;
}

}  // namespace kvtool
