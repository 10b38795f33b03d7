#include "convert/old_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "convert/header_filler.h"
#include "convert/old_checks.h"
#include "convert/other_family.h"
#include "format/container.h"
#include "format/dialect.h"
#include "format/header_struct.h"
#include "format/old_state.h"
#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::refused, why); }

const Stream& only_stream(const Dump& dump) { return dump.state.memories.front().streams.front(); }

bool holds_pool(const Dialect& d) { return format::is_old_session(d) && d.body < Body::output_ids; }
bool pads(const Dialect& d) { return format::is_old_session(d) && d.body < Body::lean; }

// One conversion into a session of before August 2024.
class OldLayout {
 public:
  OldLayout(const Dump& source, const Dialect& to, const Target& target,
            const ConvertOptions& options, Conversion& result, Missing& missing)
      : source_(source),
        to_(to),
        target_(target),
        options_(options),
        result_(result),
        missing_(missing) {
    // One that only shares the version is not what the target reads.
    const bool is_target = options.like != nullptr && options.like->dialect == to;
    if (is_target) like_ = options.like.get();
  }

  void enter() {
    need_one_memory(output().state, source_.layout);
    if (to_.header == HeaderStruct::none)
      output().header.clear();
    else
      set_header();
    if (!recurrent()) need_old_types(stream(), to_, version());
    if (to_.body <= Body::k_then_v) set_only_sequence();
    set_context();
    set_pool();
    set_used();
    if (recurrent()) set_states();
    drop_unplaced_outputs();
    set_filler();
    warn_of_crash();
  }

 private:
  Dump& output() { return result_.plan.target; }
  Memory& memory() { return output().state.memories.front(); }
  Stream& stream() { return memory().streams.front(); }
  bool recurrent() { return memory().kind == MemoryKind::recurrent; }
  std::uint32_t version() const { return target_.era ? target_.era->session_version : to_.version; }

  // A dump that such a thing can be taken from: one of the target, or the source.
  template <class Has>
  const Dump* first_with(Has&& has) const {
    if (like_ != nullptr && has(*like_)) return like_;
    return has(source_) ? &source_ : nullptr;
  }

  void set_header() {
    const format::HeaderLayout& layout = format::header_layout(to_.header);
    const Dump* same = first_with([&](const Dump& d) { return d.dialect.header == to_.header; });
    HeaderSources sources;
    sources.known = same != nullptr ? same : has_header(source_) ? &source_ : nullptr;
    sources.model = options_.model.get();
    sources.fields = &options_.fields;
    sources.n_ctx = target_.n_ctx;
    if (same == nullptr) sources.known_n_ctx = source_.state.old.context;
    const std::size_t before = missing_.size();
    FilledHeader filled = fill_header(layout, sources, missing_);
    has_facts_ = missing_.size() == before;
    for (std::string& change : filled.changes) result_.changes.push_back(std::move(change));
    output().header = std::move(filled.bytes);
    if (!has_facts_) return;
    facts_ = format::facts_of(to_.header, output().header);
    need_header_of_model(memory(), facts_, layout);
  }

  static bool has_header(const Dump& dump) { return dump.dialect.header != HeaderStruct::none; }

  void set_only_sequence() {
    if (source_.dialect.body == Body::pool && to_.body == Body::pool) return;  // it is in order
    const CellTable& cells = stream().cells;
    need_plain_order(cells, version());
    if (!cells.empty() && cells.sequences(0)[0] != 0)
      result_.changes.push_back(
          fmt::format("sequence {} is the only one, which loaders of version {} take for 0",
                      cells.sequences(0)[0], version()));
  }

  // The size of the context: of the target if it says, in the header until September 2023.
  void set_context() {
    const auto known = [](const Dump& d) {
      return format::is_old_session(d.dialect) && d.state.old.context > 0;
    };
    const Dump* from = first_with(known);
    std::uint32_t context = from == nullptr ? 0 : from->state.old.context;
    if (target_.n_ctx) context = *target_.n_ctx;
    if (facts_.n_ctx > 0) context = facts_.n_ctx;
    if (context == 0 && to_.body >= Body::cells)
      missing_.add("the size of the context", "--ctx-size N");
    const std::uint64_t listed = stream().cells.size() + stream().beyond.size();
    if (context > 0 && listed > context)
      refuse(fmt::format("{} cells do not fit into the target's context of {}", listed, context));
    output().state.old.context = context;
  }

  // The size of the whole cache, with what the build needs besides K and V.
  void set_pool() {
    if (!holds_pool(to_)) return;
    if (to_.body == Body::pool) return set_memory();
    if (const auto said = number_of(options_.fields, pool_size_field)) return take_pool(*said);
    const Dump* from = first_with([](const Dump& d) { return holds_pool(d.dialect); });
    if (from == nullptr || !scale_pool(*from)) make_pool();
  }

  void set_memory() {
    const bool from_like = like_ != nullptr && like_ != &source_;
    enter_pool(from_like ? options_.like : result_.plan.sources.front(), result_);
  }

  void take_pool(std::uint64_t bytes) {
    if (bytes < whole_cache())
      refuse(fmt::format("--set {}={}: K and V of the whole context are {} bytes", pool_size_field,
                         bytes, whole_cache()));
    output().state.old.pool_bytes = bytes;
  }

  std::uint64_t whole_cache() {
    return checked_multiply(stream().cell_bytes(), output().state.old.context);
  }

  // Another dump's, with the same slack. False where the sizes of its context or this one are open.
  bool scale_pool(const Dump& from) {
    const OldCache& old = from.state.old;
    const std::uint64_t before = only_stream(from).cell_bytes();
    const std::uint64_t after = stream().cell_bytes();
    const std::uint32_t context = output().state.old.context;
    if (before == after && (context == 0 || old.context == 0 || context == old.context)) {
      output().state.old.pool_bytes = old.pool_bytes;
      return true;
    }
    const std::uint64_t all = checked_multiply(before, old.context);
    if (old.context == 0 || context == 0 || all > old.pool_bytes) return false;
    output().state.old.pool_bytes = checked_add(old.pool_bytes - all, whole_cache());
    return true;
  }

  // Version 1 had 2 MiB besides K and V. Later it was some other number of bytes, by build.
  void make_pool() {
    if (to_.body == Body::k_then_v && output().state.old.context > 0) {
      output().state.old.pool_bytes = checked_add(whole_cache(), format::old::pool_slack_bytes);
      return;
    }
    if (to_.body == Body::k_then_v) {
      if (to_.header == HeaderStruct::s52) missing_.add("the size of the context", "--ctx-size N");
      return;  // the others have it in the header struct
    }
    std::string way = fmt::format("--set {}=BYTES", pool_size_field);
    if (output().state.old.context > 0)
      way += fmt::format(" (K and V are {} of them)", whole_cache());
    missing_.add("the size of the whole cache", way);
  }

  // The stored count of used cells is that of the cells, unless the source says otherwise.
  void set_used() {
    const bool says = format::is_old_session(source_.dialect) && source_.dialect.used_word;
    if (!says) output().state.old.used_surplus = 0;
  }

  void set_states() {
    if (!format::is_old_session(source_.dialect)) need_own_cells(stream().cells);
    if (to_.body == Body::v_flag) set_flag();
  }

  // What the flag of versions 6 and 7 says of recurrent models is what the context was set to; the
  // rows lie in rows whatever it says.
  void set_flag() {
    if (target_.flash_attention) {
      stream().v_transposed = *target_.flash_attention ? 0 : 1;
      return;
    }
    const Dump* from = first_with([](const Dump& d) {
      return d.dialect.body == Body::v_flag && d.state.arrangement == "recurrent";
    });
    if (from == nullptr) return missing_.add("a flag for V", "--flash-attn on|off");
    stream().v_transposed = only_stream(*from).v_transposed;
  }

  void drop_unplaced_outputs() {
    const Outputs& outputs = output().outputs;
    if (places_outputs(to_) || !places_outputs(source_.dialect)) return;
    if (outputs.logits.size + outputs.embeddings.size > 0)
      drop_outputs("the places of logits and embeddings in the batch");
    output().outputs = {};
  }

  void drop_outputs(const std::string& what) {
    if (!may_drop(options_, "outputs"))
      refuse(
          fmt::format("the target cannot hold {}; --drop outputs leaves logits and embeddings out",
                      what));
    result_.costs.emplace_back(
        "dropped the logits and embeddings: the next token is computed first");
    output().outputs = {};
  }

  // Until January 2024 generator text and logits stood in buffers that were written whole. Loaders
  // skip what is behind; where the source has no such bytes they are zeros.
  void set_filler() {
    if (!pads(to_)) {
      output().rng_filler = output().logits_filler = {};
      return;
    }
    const std::uint64_t zeros = format::old_rng_bytes - output().rng.size;
    const bool own = result_.plan.rng_source == 0 && output().rng_filler.size == zeros;
    if (!own) output().rng_filler = {Extent::nowhere, zeros};
    set_logits_buffer();
  }

  void set_logits_buffer() {
    if (const auto said = number_of(options_.fields, logits_capacity_field))
      return set_logits_capacity(checked_multiply(*said, sizeof(float)));
    const Dump* from = first_with([](const Dump& d) { return pads(d.dialect); });
    if (from != nullptr)
      return set_logits_capacity(from->outputs.logits.size + from->logits_filler.size);
    const std::string usual =
        facts_.n_vocab == 0
            ? std::string()
            : fmt::format(" ({}, the vocabulary, unless all tokens had logits)", facts_.n_vocab);
    missing_.add("the size of the buffer of logits",
                 fmt::format("--set {}=N{}", logits_capacity_field, usual));
  }

  void set_logits_capacity(std::uint64_t bytes) {
    if (output().outputs.logits.size > bytes)
      drop_outputs(fmt::format("more than {} logits", bytes / sizeof(float)));
    const std::uint64_t filler = bytes - output().outputs.logits.size;
    if (output().logits_filler.size != filler) output().logits_filler = {Extent::nowhere, filler};
  }

  void warn_of_crash() {
    if (to_.body == Body::k_then_v && to_.header == HeaderStruct::s52)
      result_.costs.emplace_back(
          "builds of 2023-09-28 to 10-03, which read this layout, crash after loading any session");
  }

  const Dump& source_;
  const Dialect& to_;
  const Target& target_;
  const ConvertOptions& options_;
  Conversion& result_;
  Missing& missing_;
  const Dump* like_ = nullptr;
  format::HeaderFacts facts_;
  bool has_facts_ = false;
};

// Nothing is said that would change such a session.
bool is_left_alone(const Dump& source, const Dialect& to, const Target& target,
                   const ConvertOptions& options) {
  return source.dialect == to && options.like == nullptr && options.strip.empty() &&
         options.model == nullptr && options.fields.empty() && !target.n_ctx && !target.type_k &&
         !target.type_v && !target.flash_attention;
}

}  // namespace

void enter_old_layout(const Dump& source, const Dialect& to, const Target& target,
                      const ConvertOptions& options, Conversion& result, Missing& missing) {
  if (to.scrambled && source.dialect != to)
    refuse("the reference is scrambled: nothing can be written like it");
  if (to.body == Body::typed_slot) need_old_slot(result.plan.target);
  if (!format::is_old_session(to) || is_left_alone(source, to, target, options)) return;
  if (to.scrambled) refuse("K and V of this file are scrambled: nothing can restore them");
  OldLayout(source, to, target, options, result, missing).enter();
}

}  // namespace kvtool::convert_steps
