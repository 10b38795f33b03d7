#include <fmt/format.h>

#include <algorithm>

#include "kvtool/stored_prompt.h"
#include "kvtool/tokens.h"

namespace kvtool {
namespace {

// Media between the tokens, for questions about places.
TokenArea area_of(const StoredPrompt& stored) {
  TokenArea area;
  area.media = stored.media;
  return area;
}

// How many tokens stand before a position, media whole.
std::uint64_t tokens_before(const TokenArea& area, std::uint64_t position, std::uint64_t most) {
  std::uint64_t tokens = std::min(position, most);
  for (const MediaSpan& span : area.media) {
    const auto end = position_of(area, std::uint64_t{span.start} + span.tokens);
    if (!end || *end > position) return std::min<std::uint64_t>(tokens, span.start);
    tokens = std::min(most, std::uint64_t{span.start} + span.tokens + (position - *end));
  }
  return tokens;
}

// True when the memories can be cut before any token.
bool can_be_cut(const RewindFacts& rewind) {
  return !rewind.recurrent && !rewind.verbatim && rewind.window_begin.value_or(0) == 0;
}

std::string obstacle_of(const RewindFacts& rewind) {
  if (rewind.verbatim) return "a compressed cache cannot be rewound";
  const bool window = rewind.window_begin.value_or(0) > 0;
  if (window && rewind.recurrent) return "neither window nor recurrent state can be rewound";
  return window ? "the window cache cannot be rewound" : "a recurrent state cannot be rewound";
}

// True when a checkpoint serves a prompt that parts at `tokens`, the position there being
// `position`. What a window needs before that must lie behind the checkpoint's oldest position.
bool serves(const RewindPoint& c, const RewindFacts& rewind, std::uint64_t tokens,
            std::uint64_t position) {
  const std::uint64_t window = rewind.window_begin ? rewind.window_span : 0;
  const std::uint64_t threshold = position > window ? position - window : 0;
  return c.tokens <= tokens && c.pos_min >= 0 &&
         (c.pos_min == 0 || static_cast<std::uint64_t>(c.pos_min) < threshold);
}

// Goes back to the last checkpoint that serves. The server computes the last position of a
// checkpoint again where it holds several (a window).
void go_back(const StoredPrompt& stored, std::uint64_t wanted, Reuse& reuse) {
  const TokenArea area = area_of(stored);
  const std::uint64_t position = position_of(area, wanted).value_or(wanted);
  const auto& points = stored.rewind.checkpoints;
  reuse.reason = obstacle_of(stored.rewind);
  for (std::size_t i = points.size(); i-- > 0;) {
    if (!serves(points[i], stored.rewind, wanted, position)) continue;
    const std::int64_t next = std::max<std::int64_t>(points[i].pos_min + std::int64_t{1}, points[i].pos_max);
    const std::uint64_t back = std::min(position, static_cast<std::uint64_t>(next));
    reuse.reused = std::min(tokens_before(area, back, wanted), points[i].tokens);
    reuse.checkpoint = i;
    reuse.reason += fmt::format(": back to the checkpoint at {}", points[i].tokens);
    return;
  }
  reuse.reason += points.empty() ? " and there is no checkpoint" : " and no checkpoint serves";
}

}  // namespace

Reuse reuse_of(const StoredPrompt& stored, std::uint64_t shared, std::uint64_t prompt) {
  Reuse reuse;
  std::uint64_t wanted = std::min(shared, prompt == 0 ? 0 : prompt - 1);
  if (wanted < shared) reuse.reason = "the last token is computed for its logits";
  if (stored.has_cache && stored.cells < wanted) {
    wanted = stored.cells;
    reuse.reason = fmt::format("there are cells for {} tokens only", stored.cells);
  }
  if (wanted == stored.tokens || wanted == 0 || can_be_cut(stored.rewind))
    reuse.reused = wanted;
  else
    go_back(stored, wanted, reuse);
  reuse.recomputed = prompt - reuse.reused;
  return reuse;
}

}  // namespace kvtool
