#include "query/rewind.h"

#include <algorithm>
#include <limits>

namespace kvtool {
namespace {

// The oldest position that is held must lie before this one.
std::int64_t threshold(const RewindFacts& facts, std::int64_t next, bool last_again) {
  return std::max<std::int64_t>(0, next - facts.reach - (last_again ? 1 : 0));
}

bool serves(const RewindPoint& c, std::int64_t next, std::int64_t before) {
  return c.pos_min >= 0 && (c.pos_min == 0 || c.pos_min < before) && c.pos_max <= next;
}

// The last position of a checkpoint is computed again where it holds several (a window).
std::uint64_t position_after(const RewindPoint& c, std::int64_t next) {
  const std::int64_t behind = std::max<std::int64_t>(std::int64_t{c.pos_min} + 1, c.pos_max);
  return static_cast<std::uint64_t>(std::min(next, behind));
}

}  // namespace

void note_window(RewindFacts& facts, const PositionRange& held, std::uint32_t width) {
  constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max() / 2;
  const std::int64_t whole = held.begin == 0 ? unknown : held.end - held.begin;
  facts.window = true;
  facts.oldest = std::max(facts.oldest, held.begin);
  facts.reach = std::max(facts.reach, (width > 0 ? std::int64_t{width} : whole) - 2);
}

void note_state(RewindFacts& facts, std::int64_t position) {
  facts.oldest = std::max(facts.oldest, position);
}

std::optional<WayBack> way_back(const RewindFacts& facts, std::uint64_t next, bool last_again) {
  const auto position = static_cast<std::int64_t>(next);
  const std::int64_t before = threshold(facts, position, last_again);
  if (facts.oldest < before) return WayBack{next, std::nullopt};
  for (std::size_t i = facts.checkpoints.size(); i-- > 0;)
    if (const RewindPoint& c = facts.checkpoints[i]; serves(c, position, before))
      return WayBack{position_after(c, position), i};
  return std::nullopt;
}

}  // namespace kvtool
