// Where the positions of a change go.
#pragma once

#include <optional>

#include "kvtool/sequences.h"

namespace kvtool {

class PositionMap {
 public:
  // Throws Error(usage) for empty, negative or overlapping ranges.
  explicit PositionMap(const PositionChange& change);

  [[nodiscard]] bool removes(Position position) const;
  // The move that takes the position elsewhere, or nullptr.
  [[nodiscard]] const PositionMove* move_of(Position position) const;
  // Where a position that is not removed goes.
  [[nodiscard]] std::int64_t target_of(Position position) const;
  // The first position that does not stay; the largest number if all do.
  [[nodiscard]] std::int64_t first() const;
  // True when positions [0, end) are all removed.
  [[nodiscard]] bool removes_all_before(std::int64_t end) const;
  // True when one of [0, end) is removed.
  [[nodiscard]] bool removes_some_before(std::int64_t end) const;
  // True when a range of the change begins or ends inside (begin, end).
  [[nodiscard]] bool cuts(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] bool moves_anything() const { return !moved_.empty(); }

 private:
  std::vector<PositionRange> removed_;  // ascending, disjoint
  std::vector<PositionMove> moved_;     // ascending by `from`, disjoint
};

}  // namespace kvtool
