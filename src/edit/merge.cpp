// merge: the sequences of several files side by side in a session.
#include "kvtool/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "convert/dialect.h"
#include "convert/steps.h"
#include "edit/members.h"
#include "edit/merge_parts.h"
#include "edit/state_places.h"
#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

// The ids of a part in the merged session.
using IdMap = std::map<SequenceId, SequenceId>;

bool is_one(const Dump& dump) { return format::holds_one_sequence(dump.dialect); }

std::set<SequenceId> ids_of(const Dump& dump) {
  if (is_one(dump)) return {id_of_one_sequence(dump.state)};
  return sequence_ids(dump.state);
}

void relabel(State& state, const IdMap& ids) {
  for (Memory& memory : state.memories)
    for (Stream& stream : memory.streams)
      stream.cells = convert_steps::relabel(
          stream.cells, stream.cells.extension(), [&](convert_steps::Label& label) {
            for (SequenceId& id : label.ids) id = ids.at(id);
            std::ranges::sort(label.ids);
          });
}

// Cells of a session name their sequence; those of a slot file need not.
void name_cells(Dump& dump, const IdMap& ids) {
  if (!is_one(dump)) return relabel(dump.state, ids);
  Dialect session = dump.dialect;
  session.container = Container::session;
  convert_steps::name_sequence(dump.state, session, ids.begin()->second);
}

// Positions of each sequence in each memory that earlier files have.
class Taken {
 public:
  // Throws Error(refused) if the dump has cells where another one has some.
  void add(const Dump& dump) {
    std::set<Key> of_this;
    for (std::size_t m = 0; m < dump.state.memories.size(); ++m)
      for (const Stream& stream : dump.state.memories[m].streams)
        for (std::size_t c = 0; c < stream.cells.size(); ++c)
          for (const SequenceId id : stream.cells.sequences(c))
            require_free({m, id, place_of(dump.state.memories[m], stream.cells, c)}, dump, of_this);
    taken_.merge(of_this);
  }

 private:
  struct Key {
    std::size_t memory;
    SequenceId id;
    Position position;
    auto operator<=>(const Key&) const = default;
  };

  // A sequence has one recurrent state, wherever it stands.
  static Position place_of(const Memory& memory, const CellTable& cells, std::size_t cell) {
    return memory.kind == MemoryKind::recurrent ? -1 : cells.position(cell);
  }

  void require_free(const Key& key, const Dump& dump, std::set<Key>& of_this) const {
    of_this.insert(key);
    if (taken_.count(key) == 0) return;
    throw Error(ErrorKind::refused,
                key.position < 0
                    ? fmt::format("sequence {} has a recurrent state in another file already; "
                                  "--renumber keeps them apart",
                                  key.id)
                    : fmt::format("sequence {} has position {} in another file already; --renumber "
                                  "keeps them apart, --append puts one after the other",
                                  key.id, key.position))
        .in_file(dump.source->name());
  }

  std::set<Key> taken_;
};

class Merger {
 public:
  Merger(const DumpList& dumps, const MergeOptions& options)
      : dumps_(dumps), options_(options), parts_(parts_of(dumps)) {}

  SequenceEdit run() {
    for (SequenceEdit& part : parts_) {
      Dump& dump = part.plan.target;
      name_cells(dump, new_ids(dump));
      taken_.add(dump);
    }
    result_ = std::move(parts_.front());
    result_.plan.sources = dumps_;
    join_states();
    set_header();
    order_states(target());
    drop_tails();
    return std::move(result_);
  }

 private:
  Dump& target() { return result_.plan.target; }

  IdMap new_ids(const Dump& dump) {
    IdMap ids;
    for (const SequenceId id : ids_of(dump)) ids[id] = options_.renumber ? next_++ : id;
    for (const auto& [before, after] : ids) most_ = std::max(most_, after);
    return ids;
  }

  void join_states() {
    State& state = target().state;
    state.source_sequence.reset();
    convert_steps::set_streams(state, 1, false, 0);
    for (std::size_t p = 1; p < parts_.size(); ++p)
      for (std::size_t m = 0; m < state.memories.size(); ++m)
        for (const Stream& stream : parts_[p].plan.target.state.memories[m].streams)
          append_cells(state.memories[m].streams.front(), stream);
    if (!options_.unified)
      convert_steps::set_streams(state, static_cast<std::uint32_t>(most_ + 1), false, 0);
  }

  void set_header() {
    require_sessions_of_its_kind();
    kvtool::Target as_session;
    as_session.container = Container::session;
    Dump& dump = target();
    dump.dialect = convert_steps::target_dialect(dump, as_session, nullptr, {});
    if (!options_.unified && !dump.dialect.streams)
      throw Error(ErrorKind::refused, "files of that time have one stream for all sequences");
    if (format::has_arch(dump.dialect)) dump.arch = arch();
    if (dump.dialect.rng_text && dump.rng.size == 0)
      throw Error(ErrorKind::refused, "the first file has no text of the random generator");
    dump.outputs.ids.size = dump.outputs.logits.size = dump.outputs.embeddings.size = 0;
    set_tokens();
  }

  // Slot files of before August 2024 name no model, those of the fork lack its generator's text.
  void require_sessions_of_its_kind() {
    if (!format::is_of_today(target().dialect) && is_one(target()))
      throw Error(ErrorKind::refused,
                  "slot files of before August 2024 and of ik_llama.cpp lack what their sessions "
                  "hold: convert them to slot files of llama.cpp first (kvtool convert --to ggsq:3)");
  }

  std::string arch() const {
    for (const auto& dump : dumps_)
      if (dump->arch) return *dump->arch;
    if (options_.arch) return *options_.arch;
    throw Error(
        ErrorKind::refused,
        "a session names its architecture and none of the files does: say --model MODEL.gguf "
        "or --arch NAME");
  }

  void set_tokens() {
    TokenArea& tokens = target().tokens;
    if (!tokens.media.empty())
      result_.note(
          "the media of the first file are not in the session: their places hold the id -1");
    if (tokens.form == TokenForm::payload) {
      TokenArea plain;
      plain.ids = plain.words = tokens.ids;
      tokens = plain;
    }
    if (dumps_.size() > 1)
      result_.note(
          fmt::format("a session has one token list: that of {}", dumps_[0]->source->name()));
  }

  void drop_tails() {
    std::size_t tails = 0;
    for (const auto& dump : dumps_)
      tails += dump->tail.has_checkpoints || dump->tail.has_draft ? 1U : 0U;
    if (tails > 0)
      result_.note(
          fmt::format("dropped the checkpoints and draft states of {} files: sessions hold "
                      "none",
                      tails));
    target().tail = {};
  }

  const DumpList& dumps_;
  const MergeOptions& options_;
  std::vector<SequenceEdit> parts_;
  SequenceEdit result_;
  Taken taken_;
  SequenceId next_ = 0;
  SequenceId most_ = 0;
};

}  // namespace

SequenceEdit merge_dumps(const DumpList& dumps, const MergeOptions& options) {
  return Merger(dumps, options).run();
}

}  // namespace kvtool
