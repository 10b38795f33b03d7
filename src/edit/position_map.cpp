#include "edit/position_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kvtool/error.h"

namespace kvtool {
namespace {

bool contains(const PositionRange& range, std::int64_t position) {
  return range.begin <= position && position < range.end;
}

bool inside(std::int64_t begin, std::int64_t end, std::int64_t place) {
  return begin < place && place < end;
}

void require_range(const PositionRange& range) {
  if (range.begin < range.end) return;
  throw Error(ErrorKind::usage, fmt::format("positions {}:{} are none", range.begin, range.end));
}

bool meet(const PositionRange& a, const PositionRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

[[noreturn]] void refuse_overlap(const PositionRange& a, const PositionRange& b) {
  throw Error(ErrorKind::usage, fmt::format("positions {}:{} and {}:{} overlap", a.begin, a.end,
                                            b.begin, b.end));
}

// Ascending, with ranges that meet or touch made one.
std::vector<PositionRange> merged(std::vector<PositionRange> ranges) {
  std::ranges::sort(ranges, {}, &PositionRange::begin);
  std::vector<PositionRange> result;
  for (const PositionRange& range : ranges) {
    require_range(range);
    if (!result.empty() && range.begin <= result.back().end)
      result.back().end = std::max(result.back().end, range.end);
    else
      result.push_back(range);
  }
  return result;
}

}  // namespace

PositionMap::PositionMap(const PositionChange& change)
    : removed_(merged(change.removed)), moved_(change.moved) {
  std::erase_if(moved_, [](const PositionMove& move) { return move.by == 0; });
  std::ranges::sort(moved_, {}, [](const PositionMove& move) { return move.from.begin; });
  for (const PositionMove& move : moved_) {
    require_range(move.from);
    for (const PositionRange& range : removed_)
      if (meet(range, move.from)) refuse_overlap(range, move.from);
  }
  for (std::size_t i = 1; i < moved_.size(); ++i)
    if (meet(moved_[i - 1].from, moved_[i].from))
      refuse_overlap(moved_[i - 1].from, moved_[i].from);
}

bool PositionMap::removes(Position position) const {
  return std::ranges::any_of(removed_,
                             [&](const PositionRange& range) { return contains(range, position); });
}

const PositionMove* PositionMap::move_of(Position position) const {
  for (const PositionMove& move : moved_)
    if (contains(move.from, position)) return &move;
  return nullptr;
}

std::int64_t PositionMap::target_of(Position position) const {
  const PositionMove* move = move_of(position);
  return move == nullptr ? position : position + move->by;
}

std::int64_t PositionMap::first() const {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  if (!removed_.empty()) first = removed_.front().begin;
  if (!moved_.empty()) first = std::min(first, moved_.front().from.begin);
  return first;
}

bool PositionMap::removes_all_before(std::int64_t end) const {
  return end <= 0 ||
         (!removed_.empty() && removed_.front().begin <= 0 && removed_.front().end >= end);
}

bool PositionMap::removes_some_before(std::int64_t end) const {
  return std::ranges::any_of(
      removed_, [&](const PositionRange& range) { return meet(range, {0, end}); });
}

bool PositionMap::cuts(std::int64_t begin, std::int64_t end) const {
  const auto cuts_range = [&](const PositionRange& range) {
    return inside(begin, end, range.begin) || inside(begin, end, range.end);
  };
  return std::ranges::any_of(removed_, cuts_range) ||
         std::ranges::any_of(moved_, [&](const PositionMove& m) { return cuts_range(m.from); });
}

std::vector<PositionMove> closing_moves(std::vector<PositionRange> removed) {
  const std::vector<PositionRange> ranges = merged(std::move(removed));
  std::vector<PositionMove> moves;
  std::int64_t gone = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::int64_t begin = std::max<std::int64_t>(ranges[i].begin, 0);
    const std::int64_t end =
        i + 1 < ranges.size() ? ranges[i + 1].begin : std::numeric_limits<std::int64_t>::max();
    if (ranges[i].end >= end) break;
    gone += ranges[i].end - begin;
    moves.push_back({{ranges[i].end, end}, -gone});
  }
  return moves;
}

}  // namespace kvtool
