// seq rm and seq shift: the state, the tokens and the tail together, or nothing.
#include <fmt/format.h>

#include <algorithm>

#include "edit/change_state.h"
#include "edit/change_tail.h"
#include "edit/state_places.h"
#include "edit/token_places.h"
#include "edit/window_check.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

// True if the token list is that of a sequence which changes.
bool concerns(const TokenPlaces& places, const Members& members) {
  return members.all() || places.sequence == members.sequence();
}

bool removes_the_end(const State& state, const Members& members, const PositionMap& map) {
  Position last = -1;
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.cells.size(); ++c)
        if (members.has(stream.cells, c)) last = std::max(last, stream.cells.position(c));
  return last >= 0 && map.removes(last);
}

// Logits and embeddings were those of the last tokens.
void drop_outputs(SequenceEdit& edit) {
  Outputs& outputs = edit.plan.target.outputs;
  if (outputs.ids.size + outputs.logits.size + outputs.embeddings.size == 0) return;
  outputs.ids.size = outputs.logits.size = outputs.embeddings.size = 0;
  edit.note("dropped the logits and embeddings of the last batch: its tokens are gone");
}

void change_token_list(SequenceEdit& edit, const std::optional<TokenPlaces>& places,
                       const Members& members, const PositionMap& map) {
  TokenArea& tokens = edit.plan.target.tokens;
  if (tokens.ids.empty()) return;
  if (!places) {
    edit.note("left the token list as it was: it is not known to be that of one sequence");
    return;
  }
  if (concerns(*places, members)) tokens = changed_tokens(tokens, *places, map);
}

RopeOfMemory rope_in(const RopeFacts* facts) {
  return [facts](std::size_t m) -> std::shared_ptr<const CacheRope> {
    return facts == nullptr ? nullptr : facts->memories.at(m);
  };
}

}  // namespace

SequenceEdit SequenceEdit::of(std::shared_ptr<const Dump> dump) {
  return {Plan::of(std::move(dump)), {}};
}

void SequenceEdit::note(const std::string& sentence) {
  if (std::ranges::find(notes, sentence) == notes.end()) notes.push_back(sentence);
}

void change_positions(SequenceEdit& edit, const PositionChange& change,
                      const PositionOptions& options) {
  const PositionMap map(change);
  Dump& target = edit.plan.target;
  const Members members = members_of(target, change.sequence);
  require_change(target.state, members, map);
  const Dump before = target;
  const auto places = token_places(before);
  SequenceEdit result = edit;
  if (removes_the_end(before.state, members, map)) drop_outputs(result);
  change_token_list(result, places, members, map);
  change_state(result.plan.target.state, members, map, rope_in(options.rope.get()));
  return_states(before.state, result.plan.target);
  require_windows(before, result.plan.target, members, map, options.window);
  change_tail(result, before.state, map, places, options.rope.get());
  edit = std::move(result);
}

}  // namespace kvtool
