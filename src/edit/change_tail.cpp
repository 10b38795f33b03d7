#include "edit/change_tail.h"

#include <fmt/format.h>

#include <algorithm>

#include "edit/partial_state.h"

namespace kvtool {
namespace {

const Members everyone(std::nullopt, true);

// Calls f(position) for every cell of a state.
template <class F>
void for_each_position(const State& state, F&& f) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.cells.size(); ++c) f(stream.cells.position(c));
}

enum class Fate { stays, moves, goes };

Fate fate_of(const State& state, const PositionMap& map) {
  bool all_stay = true;
  const PositionMove* first = nullptr;
  bool all_move = true;
  for_each_position(state, [&](Position p) {
    all_stay = all_stay && p < map.first();
    const PositionMove* move = map.move_of(p);
    if (first == nullptr) first = move;
    all_move = all_move && move != nullptr && move == first && !map.removes(p);
  });
  if (all_stay) return Fate::stays;
  return all_move ? Fate::moves : Fate::goes;
}

Position moved(Position position, const PositionMap& map) {
  return map.removes(position) ? position : static_cast<Position>(map.target_of(position));
}

class TailChange {
 public:
  TailChange(const State& whole, const PositionMap& map, const std::optional<TokenPlaces>& places,
             const RopeFacts* rope)
      : whole_(whole), map_(map), places_(places), rope_(rope) {}

  // False if the checkpoint has to go.
  bool change(Checkpoint& checkpoint) const {
    if (!checkpoint.target.state) return false;
    const Fate fate = fate_of(*checkpoint.target.state, map_);
    if (fate == Fate::stays) return true;
    const auto memories = counterparts(whole_, *checkpoint.target.state);
    if (fate == Fate::goes || !places_ || !memories) return false;
    change_state(*checkpoint.target.state, everyone, map_, rope_for(*memories));
    renumber(checkpoint);
    return true;
  }

 private:
  RopeOfMemory rope_for(const std::vector<std::size_t>& memories) const {
    return [this, memories](std::size_t m) -> std::shared_ptr<const CacheRope> {
      return rope_ == nullptr ? nullptr : rope_->memories.at(memories[m]);
    };
  }

  // The draft model's part is dropped: how its K turns is not known.
  void renumber(Checkpoint& checkpoint) const {
    checkpoint.tokens = tokens_left(*places_, map_, checkpoint.tokens);
    checkpoint.pos_min = moved(checkpoint.pos_min, map_);
    checkpoint.pos_max = moved(checkpoint.pos_max, map_);
    checkpoint.draft = {};
    checkpoint.speculation = {};
  }

  const State& whole_;
  const PositionMap& map_;
  const std::optional<TokenPlaces>& places_;
  const RopeFacts* rope_;
};

bool can_lose_cells(const State& state) {
  return std::ranges::all_of(state.memories,
                             [](const Memory& m) { return m.kind == MemoryKind::attention; });
}

void drop_draft(SequenceEdit& edit) {
  Tail& tail = edit.plan.target.tail;
  tail.has_draft = false;
  tail.draft = {};
  tail.draft_speculation = {};
  edit.note("dropped the draft model's state: it is computed again");
}

void change_draft(SequenceEdit& edit, const PositionMap& map) {
  Tail& tail = edit.plan.target.tail;
  if (!tail.has_draft) return;
  if (tail.draft.state && fate_of(*tail.draft.state, map) == Fate::stays) return;
  if (!tail.draft.state || map.moves_anything() || !can_lose_cells(*tail.draft.state))
    return drop_draft(edit);
  change_state(*tail.draft.state, everyone, map, [](std::size_t) { return nullptr; });
  tail.draft_speculation = {};
}

}  // namespace

void change_tail(SequenceEdit& edit, const State& whole, const PositionMap& map,
                 const std::optional<TokenPlaces>& places, const RopeFacts* rope) {
  Tail& tail = edit.plan.target.tail;
  const TailChange change(whole, map, places, rope);
  const std::size_t before = tail.checkpoints.size();
  std::erase_if(tail.checkpoints, [&](Checkpoint& c) { return !change.change(c); });
  if (const std::size_t gone = before - tail.checkpoints.size(); gone > 0)
    edit.note(
        fmt::format("dropped {} of {} checkpoints: they lie behind the change", gone, before));
  tail.has_checkpoints = !tail.checkpoints.empty();
  change_draft(edit, map);
}

}  // namespace kvtool
