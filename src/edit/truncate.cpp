#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "edit/partial_state.h"
#include "edit/truncate_memory.h"
#include "edit/window_check.h"
#include "format/container.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

// The cells that the token list speaks of: those of the one sequence that is named.
Members members_of_list(const Dump& dump) {
  std::optional<SequenceId> only;
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.cells.size(); ++c)
        for (const SequenceId id : stream.cells.sequences(c)) {
          if (only && *only != id)
            throw Error(ErrorKind::refused,
                        fmt::format("holds sequences {} and {}, and does not say whose tokens it "
                                    "lists; take one out with kvtool extract --seq",
                                    std::min(*only, id), std::max(*only, id)));
          only = id;
        }
  return {only, format::holds_one_sequence(dump.dialect)};
}

// Where to cut: the position of token `count`.
Position cut_position(const Dump& dump, std::uint64_t count) {
  if (!format::has_header(dump.dialect))
    throw Error(ErrorKind::refused, "a bare state holds no tokens to cut by");
  const auto position = position_of(dump.tokens, count);
  if (!position)
    throw Error(ErrorKind::refused,
                fmt::format("how many positions the media before token {} take is not known",
                            count));
  if (*position > static_cast<std::uint64_t>(std::numeric_limits<Position>::max()))
    throw Error(ErrorKind::refused, "positions beyond 2147483647 do not exist");
  return static_cast<Position>(*position);
}

// Checkpoints beyond the cut stand for tokens that are gone.
void cut_checkpoints(Tail& tail, std::uint64_t count) {
  std::erase_if(tail.checkpoints, [&](const Checkpoint& c) { return c.tokens > count; });
  tail.has_checkpoints = !tail.checkpoints.empty();
}

// The draft model's state is cut with the other, or goes when that cannot be done: the server then
// builds it anew. What a speculation method noted at the end goes in any case.
void cut_draft(Tail& tail, const Cut& cut) {
  if (!tail.has_draft) return;
  tail.draft_speculation = {};
  if (tail.draft.state && can_be_cut(*tail.draft.state, cut)) {
    cut_state(*tail.draft.state, cut);
    return;
  }
  tail.draft = {};
  tail.has_draft = false;
}

PositionMap removal_of(const Cut& cut) {
  return PositionMap({{}, {{cut.position, std::numeric_limits<std::int64_t>::max()}}, {}});
}

// Logits and embeddings were those of the last tokens.
void drop_outputs(Outputs& outputs) {
  outputs.ids.size = 0;
  outputs.logits.size = 0;
  outputs.embeddings.size = 0;
}

}  // namespace

Plan truncate(std::shared_ptr<const Dump> dump, std::uint64_t count,
              const TruncateOptions& options) {
  Plan plan = Plan::of(std::move(dump));
  Dump& target = plan.target;
  const bool shorter = count < target.tokens.ids.size();
  TokenArea tokens = first_tokens(target.tokens, count);
  const Cut cut{cut_position(target, count), count, members_of_list(target)};
  require_cut(target, cut);
  cut_state(target.state, cut);
  require_windows(*plan.sources.front(), target, cut.members, removal_of(cut), options.window);
  target.tokens = std::move(tokens);
  if (!shorter) return plan;
  cut_checkpoints(target.tail, count);
  cut_draft(target.tail, cut);
  drop_outputs(target.outputs);
  return plan;
}

namespace {

const Checkpoint& checkpoint_of(const Dump& dump, std::size_t number) {
  const auto& checkpoints = dump.tail.checkpoints;
  if (number < checkpoints.size()) return checkpoints[number];
  throw Error(ErrorKind::usage,
              checkpoints.empty() ? fmt::format("there are no checkpoints")
                                  : fmt::format("checkpoint {} does not exist; there are 0 to {}",
                                                number, checkpoints.size() - 1));
}

// The memories that the checkpoint holds, in the place of those of the file.
void take_memories(State& state, const Checkpoint& checkpoint, std::size_t number) {
  const auto places =
      checkpoint.target.state ? counterparts(state, *checkpoint.target.state) : std::nullopt;
  if (!places)
    throw Error(ErrorKind::refused,
                fmt::format("checkpoint {} does not belong to the memories of this file", number));
  for (std::size_t i = 0; i < places->size(); ++i) {
    Memory& memory = state.memories[(*places)[i]];
    const std::string role = memory.role;
    memory = checkpoint.target.state->memories[i];
    memory.role = role;
  }
}

// What the checkpoint does not hold must be there up to it.
void require_rest(const State& state, const Cut& cut) {
  for (const Memory& memory : state.memories) {
    if (memory.kind == MemoryKind::verbatim)
      throw Error(ErrorKind::refused, "a compressed cache cannot be cut");
    if (memory.kind == MemoryKind::attention && memory.role != "window")
      require_tokens_of_cells(memory, cut);
  }
}

}  // namespace

Plan truncate_to_checkpoint(std::shared_ptr<const Dump> dump, std::size_t number) {
  Plan plan = Plan::of(std::move(dump));
  Dump& target = plan.target;
  const Checkpoint checkpoint = checkpoint_of(target, number);
  TokenArea tokens = first_tokens(target.tokens, checkpoint.tokens);
  const Cut cut{cut_position(target, checkpoint.tokens), checkpoint.tokens,
                members_of_list(target)};
  require_rest(target.state, cut);
  take_memories(target.state, checkpoint, number);
  cut_state(target.state, cut);
  target.tokens = std::move(tokens);
  cut_checkpoints(target.tail, checkpoint.tokens);
  cut_draft(target.tail, cut);
  return plan;
}

}  // namespace kvtool
