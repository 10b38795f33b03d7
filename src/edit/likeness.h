// How far two sequences are alike from the first place on, without reading anything again.
#pragma once

#include <cstdint>
#include <vector>

#include "edit/cell_digests.h"
#include "edit/sequence_places.h"

namespace kvtool {

// Two sequences are alike at a place that both have if their tokens are the same, as far as both
// are known, and so are the digests of their cells in each stream that has a cell for both.
//
// What all sequences have, the place itself and its cells in streams that lack none, is linked into
// a chain of numbers for each sequence: two chains have the same number at a place if everything up
// to it was the same, so that the first difference is found by halving. Takes 8 bytes for each cell
// of a sequence. The arguments must outlive it.
class Likeness {
 public:
  Likeness(const std::vector<PlacedSequence>& sequences,
           const std::vector<const Stream*>& streams, const std::vector<CellDigests>& digests);

  // To be called when the digests have changed.
  void link();

  // How many places from the first on are alike in two sequences (by their index).
  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b) const;
  // For each sequence the most that it has in common with any other.
  [[nodiscard]] std::vector<std::size_t> reaches() const;

 private:
  // The places of a sequence that a stream with gaps has a cell for.
  using Present = std::vector<std::uint32_t>;

  [[nodiscard]] std::vector<std::uint64_t> chain_of(const PlacedSequence& sequence) const;
  [[nodiscard]] std::size_t same_links(std::size_t a, std::size_t b) const;
  [[nodiscard]] std::size_t same_in(std::size_t gapped, std::size_t a, std::size_t b,
                                    std::size_t most) const;

  const std::vector<PlacedSequence>& sequences_;
  const CellTable& table_;  // of the first stream
  const std::vector<CellDigests>& digests_;
  std::vector<std::size_t> whole_;             // streams that have a cell for every place
  std::vector<std::size_t> gapped_;            // the others
  std::vector<std::vector<Present>> present_;  // for each of these and each sequence
  std::vector<std::vector<std::uint64_t>> chains_;
};

}  // namespace kvtool
