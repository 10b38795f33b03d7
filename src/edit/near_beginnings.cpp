// Sequences that begin nearly alike: every number is compared, but only with those that can be
// longest.
#include <algorithm>
#include <array>

#include "edit/beginnings.h"
#include "edit/equal_prefix.h"
#include "edit/likeness.h"
#include "kvtool/codec.h"

namespace kvtool {
namespace {

// A few numbers of each cell: if one is too far from its counterpart, so is the cell.
class Samples {
 public:
  Samples(const SharedStreams& shared, double tolerance, const std::vector<std::size_t>& reaches)
      : tolerance_(tolerance) {
    const Stream& stream = *shared.streams.front();
    if (stream.layers.empty()) return;
    const Tensor& k = stream.layers.front().k;
    if (k.orientation != Orientation::rows || k.cell_elements() == 0 || !can_decode(k.type)) return;
    std::vector<bool> wanted(stream.cells.size(), false);
    for (std::size_t q = 0; q < reaches.size(); ++q)
      for (std::size_t i = 0; i < reaches[q]; ++i) wanted[shared.sequences[q].cells[0][i]] = true;
    samples_.resize(wanted.size());
    for_each_wanted_row(*shared.source, k, wanted,
                        [&](std::size_t cell, std::span<const std::byte> row) {
                          take(k, cell, row);
                        });
  }

  [[nodiscard]] bool may_be_near(std::uint32_t a, std::uint32_t b) const {
    if (samples_.empty() || a == b) return true;
    for (std::size_t i = 0; i < samples_[a].size(); ++i)
      if (!is_within(tolerance_, samples_[a][i], samples_[b][i])) return false;
    return true;
  }

 private:
  void take(const Tensor& k, std::size_t cell, std::span<const std::byte> row) {
    numbers_.resize(static_cast<std::size_t>(k.cell_elements()));
    dequantize(k.type, row, numbers_);
    for (std::size_t i = 0; i < samples_[cell].size(); ++i)
      samples_[cell][i] = numbers_[i * numbers_.size() / samples_[cell].size()];
  }

  double tolerance_;
  std::vector<std::array<float, 4>> samples_;
  std::vector<float> numbers_;
};

// A sequence and how long it can be the same at most.
struct Candidate {
  std::size_t sequence;
  std::size_t most;
};

}  // namespace

struct NearBeginnings::Known {
  Known(const SharedStreams& shared, double tolerance)
      : digests(digests_of(shared)),
        likeness(shared.sequences, shared.streams, digests),
        samples(shared, tolerance, likeness.reaches()) {}

  // Nothing is read for these: they tell no cells apart.
  static std::vector<CellDigests> digests_of(const SharedStreams& shared) {
    std::vector<CellDigests> digests;
    for (const Stream* stream : shared.streams) digests.emplace_back(*shared.source, *stream, 0);
    return digests;
  }

  // The earlier sequences, those that can be alike for longest first.
  [[nodiscard]] std::vector<Candidate> candidates(const SharedStreams& shared,
                                                  std::size_t sequence) const {
    std::vector<Candidate> list;
    const std::vector<std::uint32_t>& own = shared.sequences[sequence].cells.front();
    for (std::size_t a = 0; a < sequence; ++a) {
      const std::vector<std::uint32_t>& theirs = shared.sequences[a].cells.front();
      const std::size_t most = likeness.common(a, sequence);
      std::size_t near = 0;
      while (near < most && samples.may_be_near(theirs[near], own[near])) ++near;
      list.push_back({a, near});
    }
    std::ranges::stable_sort(list, std::ranges::greater{}, &Candidate::most);
    return list;
  }

  std::vector<CellDigests> digests;
  Likeness likeness;
  Samples samples;
};

NearBeginnings::NearBeginnings(const SharedStreams& shared, double tolerance)
    : shared_(shared),
      tolerance_(tolerance),
      known_(std::make_unique<const Known>(shared, tolerance)) {}

NearBeginnings::~NearBeginnings() = default;

std::size_t NearBeginnings::common(std::size_t a, std::size_t b, std::size_t most) const {
  for (std::size_t s = 0; s < shared_.streams.size(); ++s) {
    std::vector<CellIndices> pairs;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < most; ++i) {
      pairs.emplace_back(shared_.sequences[a].cells[s][i], shared_.sequences[b].cells[s][i]);
      places.push_back(i);
      if (pairs.back().first != no_cell && pairs.back().second != no_cell) continue;
      pairs.pop_back();  // a window need not have all the places
      places.pop_back();
    }
    const std::size_t equal = equal_prefix(*shared_.source, *shared_.streams[s], pairs, tolerance_);
    if (equal < pairs.size()) most = places[equal];
  }
  return most;
}

Beginning NearBeginnings::of(std::size_t sequence) const {
  Beginning best;
  for (const Candidate& candidate : known_->candidates(shared_, sequence)) {
    if (candidate.most == 0 || candidate.most < best.length) break;
    if (candidate.most == best.length && candidate.sequence > best.with) continue;
    const std::size_t length = common(candidate.sequence, sequence, candidate.most);
    if (length > best.length || (length == best.length && candidate.sequence < best.with))
      best = {candidate.sequence, length};
  }
  return best;
}

}  // namespace kvtool
