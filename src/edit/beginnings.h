// With which earlier sequence each one begins alike, for streams that lie beside each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "edit/sequence_places.h"

namespace kvtool {

// The streams of all caches that list the same sequences, those with every cell first, and the
// sequences of the first.
struct SharedStreams {
  const Source* source = nullptr;
  std::vector<const Stream*> streams;
  std::vector<PlacedSequence> sequences;
};

// So many places from the first on are the same in an earlier sequence, by its index.
struct Beginning {
  std::size_t with = 0;
  std::size_t length = 0;
};

// For each sequence the earlier one with which it has most in common, byte for byte; the first of
// several. Every cell that this needs is read once, and those that are found equal once more for
// each cell that is said to equal them. If two cells differ although their digests are the same,
// what they begin is left as it is. `digest_mask` is for tests. Throws Error(io).
[[nodiscard]] std::vector<Beginning> equal_beginnings(const SharedStreams& shared,
                                                      std::uint64_t digest_mask);

// The same for one sequence and numbers that may be `tolerance` apart. What is near is not near to
// what that is near to, so that each earlier sequence may have to be compared; those with other
// places or tokens are not, nor those of which a few numbers are further apart, nor those that
// cannot begin alike for longer than one that was compared.
class NearBeginnings {
 public:
  // `shared` must outlive it; its cells may be exchanged for those of an earlier
  // sequence at the same place.
  NearBeginnings(const SharedStreams& shared, double tolerance);
  ~NearBeginnings();
  NearBeginnings(const NearBeginnings&) = delete;
  NearBeginnings& operator=(const NearBeginnings&) = delete;

  // Throws Error(io).
  [[nodiscard]] Beginning of(std::size_t sequence) const;

 private:
  struct Known;
  // The places that are near, of those that may be.
  [[nodiscard]] std::size_t common(std::size_t a, std::size_t b, std::size_t most) const;

  const SharedStreams& shared_;
  double tolerance_;
  std::unique_ptr<const Known> known_;
};

}  // namespace kvtool
