// The order of the steps: sequence, streams, types, layout, tokens, prelude, tail.
#include "kvtool/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "convert/dialect.h"
#include "convert/generator.h"
#include "convert/header_filler.h"
#include "convert/missing.h"
#include "convert/old_layout.h"
#include "convert/other_family.h"
#include "convert/rotation.h"
#include "convert/steps.h"
#include "convert/surroundings.h"
#include "convert/whole_cells.h"
#include "format/container.h"
#include "kvtool/error.h"
#include "kvtool/facts.h"
#include "target/differences.h"

namespace kvtool {
namespace {

using namespace convert_steps;

const Stream* first_with_cells(const Memory& memory) {
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return &stream;
  return nullptr;
}

std::string type_of(const Tensor& tensor) {
  if (tensor.orientation == Orientation::absent) return "none";
  return std::string(info(tensor.type).name);
}

// Everything that the steps of one conversion share.
class Converter {
 public:
  Converter(const std::shared_ptr<const Dump>& dump, const Target& target,
            const ConvertOptions& options)
      : source_(with_known_rotation(*dump, target, options)),
        target_(target),
        options_(options),
        dialect_(target_dialect(*source_, target, options.like.get(), options.layout)) {}

  Conversion run() {
    result_.plan = whole_cells_of(source_, target_, options_, result_);
    need_fields_of(dialect_, options_.fields);
    leave_source_layout(*source_, dialect_, target_, options_, result_);
    choose_sequence();
    change_state(output().state, source_->state, source_->dialect);
    change_tail();
    change_tokens(*source_, output(), target_, options_, result_);
    Missing missing;
    change_prelude(*source_, output(), dialect_, target_, options_, result_, missing);
    enter_old_layout(*source_, dialect_, target_, options_, result_, missing);
    missing.require_none(files_of(dialect_), format::is_old_session(dialect_)
                                                 ? "that the target saved"
                                                 : "of that version");
    for (std::size_t m = 0; m < output().state.memories.size(); ++m)
      note_memory(source_->state.memories[m], output().state.memories[m]);
    note_layout();
    result_.warnings = idle_wishes(output().state, asked());
    warn_of_row_order();
    output().dialect = dialect_;
    return std::move(result_);
  }

 private:
  Dump& output() { return result_.plan.target; }
  bool was_one() const { return format::holds_one_sequence(source_->dialect); }
  bool will_be_one() const { return format::holds_one_sequence(dialect_); }

  // Which sequence a dump of one sequence holds, or is to hold.
  void choose_sequence() {
    id_ = options_.sequence ? *options_.sequence
          : was_one()       ? named_sequence(source_->state)
                            : only_sequence();
    if (was_one() || !will_be_one()) return;
    keep_sequence(output().state, id_);
    note_change(fmt::format("took sequence {}", id_));
  }

  // The one sequence of a session. Throws if there are several to choose from.
  SequenceId only_sequence() const {
    std::optional<SequenceId> only;
    for (const Memory& memory : source_->state.memories)
      for (const SequenceFacts& facts : sequences_of(memory, false)) {
        if (only && only != facts.id && will_be_one())
          throw Error(ErrorKind::refused,
                      "the session holds several sequences and a slot file one: say --seq ID");
        if (!only) only = facts.id;
      }
    return only.value_or(0);
  }

  void change_state(State& state, const State& before, const Dialect& from) {
    if (was_one() || will_be_one()) name_sequence(state, dialect_, id_);
    change_streams(state);
    if (target_.model) match_mla(state, *target_.model);
    set_tensors(state, wishes());
    if (!dialect_.streams) need_layers(state);
    set_rotation(state, before, *source_, target_, options_);
    if (from.extension != dialect_.extension) change_extension(state);
    if (!dialect_.prefix) state.source_sequence.reset();
  }

  // Only models with n-gram heads look at the token, and those are younger than the extension that
  // holds it, so their files never lack one.
  void change_extension(State& state) {
    const std::uint64_t unknown = set_extension(state, dialect_.extension, token_of());
    if (dialect_.extension == CellExtension::none)
      note_once(result_.costs,
                "dropped x and y of the cells: before March 2026 they were not stored, and "
                "places in images are lost");
    if (unknown > 0)
      result_.costs.push_back(fmt::format(
          "{} cells carry the token -1, because theirs is not in the file; models with M-RoPE do not "
          "look at it",
          unknown));
  }

  // Before July 2025 a cache without cells still had the headers of its layers.
  void need_layers(const State& state) const {
    for (const Memory& memory : state.memories)
      if (memory.kind == MemoryKind::attention && memory.streams.front().layers.empty())
        throw Error(ErrorKind::refused,
                    fmt::format("the {} memory has no cells, and loaders of before July 2025 want "
                                "headers of layers there, which are not in the file",
                                memory.role));
  }

  void change_streams(State& state) {
    if (!dialect_.streams) return set_streams(state, 1, will_be_one(), id_);
    if (const auto n = target_.streams()) set_streams(state, *n, will_be_one(), id_);
  }

  // Sessions of before version 6 have no word for it.
  bool always_transposes() const {
    return format::is_old_session(dialect_) && dialect_.body < Body::v_flag;
  }

  TensorWishes wishes() const {
    TensorWishes wishes{target_.type_k, target_.type_v, std::nullopt};
    if (target_.flash_attention) wishes.v_transposed = !*target_.flash_attention;
    if (!always_transposes()) return wishes;
    if (target_.flash_attention.value_or(false))
      throw Error(ErrorKind::usage,
                  "--flash-attn on: there was none before April 2024 (version 6)");
    wishes.v_transposed = true;
    return wishes;
  }

  // What the target says, without what its layout demands. Sessions 6 and 7 store the word about V of
  // recurrent models too.
  TensorWishes asked() const {
    TensorWishes asked = wishes();
    if (always_transposes() || dialect_.body == Body::v_flag) asked.v_transposed.reset();
    return asked;
  }

  TokenOf token_of() const {
    const auto& ids = source_->tokens.ids;
    const bool plain = source_->tokens.media.empty() && was_one();
    return [&ids, plain](Position p) -> std::optional<TokenId> {
      if (!plain || p < 0 || static_cast<std::size_t>(p) >= ids.size()) return std::nullopt;
      return ids[static_cast<std::size_t>(p)];
    };
  }

  void change_tail() {
    Tail& tail = output().tail;
    drop_lost_tail(*source_, tail, dialect_, target_, options_, result_);
    auto change = [&](Blob& blob) {
      if (!blob.state) return;
      const State before = *blob.state;
      Dialect inside = dialect_;
      inside.container = Container::sequence_state;
      inside.prefix = true;
      std::swap(inside, dialect_);  // the steps look at the dialect they convert to
      change_state(*blob.state, before, blob.dialect);
      blob.dialect = dialect_;
      std::swap(inside, dialect_);
    };
    for (Checkpoint& checkpoint : tail.checkpoints) change(checkpoint.target);
    change_draft(tail);
  }

  // The draft model's context has cache types of its own (-ctkd, -ctvd) and shares the rest.
  void change_draft(Tail& tail) const {
    auto change = [&](Blob& blob) {
      if (!blob.state) return;
      if (const auto n = target_.streams()) set_streams(*blob.state, *n, true, id_);
      set_tensors(*blob.state, {std::nullopt, std::nullopt, wishes().v_transposed});
    };
    for (Checkpoint& checkpoint : tail.checkpoints) change(checkpoint.draft);
    change(tail.draft);
  }

  // What became of an attention cache: streams, types, orientation, rotation.
  void note_memory(const Memory& before, const Memory& after) {
    if (after.kind != MemoryKind::attention) return;
    auto note = [&](const char* what, const std::string& from, const std::string& to) {
      if (from != to) note_change(fmt::format("{} memory: {} {} -> {}", after.role, what, from, to));
    };
    note("streams", std::to_string(before.streams.size()), std::to_string(after.streams.size()));
    const Stream* x = first_with_cells(before);
    const Stream* y = first_with_cells(after);
    if (x == nullptr || y == nullptr || x->layers.empty()) return;
    note("K", type_of(x->layers[0].k), type_of(y->layers[0].k));
    note("V", type_of(x->layers[0].v), type_of(y->layers[0].v));
    note("V in", v_layout_of(before), v_layout_of(after));
    note("rotation of K", std::to_string(x->rot_k), std::to_string(y->rot_k));
    note("rotation of V", std::to_string(x->rot_v), std::to_string(y->rot_v));
  }

  // The halves of deepseek2's K rows stay as they are: which way round the source has them is known
  // by its date only.
  void warn_of_row_order() {
    if (!target_.era || !target_.model) return;
    for (Finding& danger : target::silent_dangers(*source_, target_))
      if (danger.code == "mla_row_order") result_.warnings.push_back(std::move(danger.message));
  }

  void note_layout() {
    if (dialect_ == source_->dialect) return;
    note_change(fmt::format("layout {} -> {}", dialect_name(source_->dialect), dialect_name(dialect_)));
  }

  static void note_once(std::vector<std::string>& list, const std::string& line) {
    if (std::find(list.begin(), list.end(), line) == list.end()) list.push_back(line);
  }

  void note_change(std::string change) { result_.changes.push_back(std::move(change)); }

  std::shared_ptr<const Dump> source_;
  const Target& target_;
  const ConvertOptions& options_;
  Dialect dialect_;
  SequenceId id_ = 0;
  Conversion result_;
};

}  // namespace

namespace {

const char* doubt_about_model(Family family) {
  return family == Family::llama_cpp
             ? "it is of another model than the target"
             : "ik_llama.cpp keeps other caches for such a model, or it is of another model than the "
               "target";
}

// Numbers of layers and widths of rows are the model's, and nothing that could be converted.
void need_same_model(const Dump& dump, const Target& target) {
  static const std::set<std::string> shapes = {"arch",  "memories", "n_layer", "k_row",  "v_row",
                                               "r_row", "s_row",    "ple_row", "r_layers"};
  if (!target.model) return;
  const bool foreign = !format::is_of_today(dump.dialect);
  if (foreign && target.model->caches.empty() && !target.model->recurrent) return;  // only a name
  Target shape;  // types and settings as they are
  shape.model = target.model;
  shape.era = foreign ? target.era : era_of_dump(dump);
  if (!shape.era) return;
  for (const Reason& reason : target::differences(dump, shape))
    if (shapes.count(reason.code) > 0)
      throw Error(ErrorKind::refused,
                  fmt::format("{}: {}{}{}", doubt_about_model(dump.dialect.family), reason.where,
                              reason.where.empty() ? "" : ": ", reason.message));
}

}  // namespace

Conversion convert(const std::shared_ptr<const Dump>& dump, const Target& target,
                   const ConvertOptions& options) {
  if (options.written && !can_have_written(*options.written, *dump))
    throw Error(ErrorKind::usage,
                fmt::format("llama.cpp of {} did not write {}; that is of {}", options.written->name,
                            dump->layout, era_of_dump(*dump).name));
  need_same_model(*dump, target);
  return Converter(dump, target, options).run();
}

}  // namespace kvtool
