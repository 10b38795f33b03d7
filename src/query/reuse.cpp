#include <fmt/format.h>

#include <algorithm>

#include "kvtool/stored_prompt.h"
#include "kvtool/tokens.h"
#include "query/rewind.h"

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

std::string obstacle_of(const RewindFacts& rewind) {
  if (rewind.verbatim) return "a compressed cache cannot be rewound";
  if (rewind.window && rewind.recurrent)
    return "neither window nor recurrent state can be rewound";
  return rewind.window ? "the window cache cannot be rewound" : "a recurrent state cannot be rewound";
}

// What stood in the way, and what came of it.
std::string reason_of(const RewindFacts& rewind, const std::optional<WayBack>& way) {
  std::string reason = obstacle_of(rewind);
  if (way)
    return fmt::format("{}: back to the checkpoint at {}", reason,
                       rewind.checkpoints[*way->checkpoint].tokens);
  return reason + (rewind.checkpoints.empty() ? " and there is no checkpoint"
                                              : " and no checkpoint serves");
}

// Tokens of the stored prompt that are kept when `wanted` of them were of use.
void go_back(const StoredPrompt& stored, std::uint64_t wanted, bool last_again, Reuse& reuse) {
  const TokenArea area = area_of(stored);
  const std::uint64_t next = position_of(area, wanted).value_or(wanted);
  const auto way = way_back(stored.rewind, next, last_again);
  reuse.reused = way ? wanted : 0;
  if (way && !way->checkpoint) return;
  reuse.reason = reason_of(stored.rewind, way);
  if (!way) return;
  reuse.checkpoint = way->checkpoint;
  reuse.reused = std::min(tokens_before(area, way->position, wanted),
                          stored.rewind.checkpoints[*way->checkpoint].tokens);
}

}  // namespace

Reuse reuse_of(const StoredPrompt& stored, std::uint64_t shared, std::uint64_t prompt) {
  Reuse reuse;
  std::uint64_t wanted = shared;
  if (stored.has_cache && stored.cells < wanted) {
    wanted = stored.cells;
    reuse.reason = fmt::format("there are cells for {} tokens only", stored.cells);
  }
  if (wanted > 0) go_back(stored, wanted, wanted == prompt, reuse);
  if (reuse.reused > 0 && reuse.reused == prompt) {
    --reuse.reused;
    reuse.reason = "the last token is computed for its logits";
  }
  reuse.recomputed = prompt - reuse.reused;
  return reuse;
}

}  // namespace kvtool
