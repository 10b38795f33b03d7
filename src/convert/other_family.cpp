// Out of the layouts of before August 2024 and of ik_llama.cpp: what they have of their own is
// translated, left out when that is allowed, or refused.
#include "convert/other_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "format/container.h"
#include "format/dialect.h"
#include "kvtool/error.h"
#include "write/certain_places.h"

namespace kvtool::convert_steps {
namespace {

// A lead over the next reading from which the content decides.
constexpr double clear_lead = 0.05;

// Readings that move other bytes, or give other values, and are about as likely.
bool has_rival(const State& state) {
  const auto& readings = state.type_readings;
  auto worth = [](const TypeReading& r) { return std::min(r.k_plausible, r.v_plausible); };
  return state.types_uncertain ||
         (readings.size() > 1 && worth(readings[1]) > worth(readings[0]) - clear_lead);
}

void need_certain_types(const State& state) {
  if (has_rival(state)) refuse_uncertain_types(state);
}

// Cells that the source lists without K and V.
void leave_out_beyond(Stream& stream, const ConvertOptions& options, Conversion& result) {
  if (stream.beyond.empty()) return;
  if (!may_drop(options, "cells"))
    throw Error(ErrorKind::refused,
                fmt::format("{} cells are listed without K and V: the build that saved them lost their "
                            "content; --drop cells leaves them out",
                            stream.beyond.size()));
  result.costs.push_back(fmt::format("dropped {} cells that have no K and V: their positions are missing",
                                     stream.beyond.size()));
  stream.beyond = CellTable();
}

// Newer files list the cells in use and no others.
void pack(Stream& stream, Conversion& result) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t c = 0; c < stream.cells.size(); ++c)
    if (!stream.cells.sequences(c).empty()) order.push_back(c);
  if (order.size() == stream.cells.size()) return;
  result.changes.push_back(
      fmt::format("{} unused cells left out", stream.cells.size() - order.size()));
  reorder(stream, order);
}

// True where the target wants K and V as the likeliest reading has them.
bool wants_as_read(const State& state, const Target& target) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (const Layer& layer : stream.layers) {
        if (target.type_k.value_or(layer.k.type) != layer.k.type) return false;
        if (target.type_v.value_or(layer.v.type) != layer.v.type) return false;
        const bool turned = layer.v.orientation == Orientation::transposed;
        if (turned && target.flash_attention.value_or(false)) return false;
        if (!turned && !target.flash_attention.value_or(true)) return false;
      }
  return true;
}

// K and V stay where they are, whatever their types: both have them by layer and do not store types.
bool keeps_places(const Dump& source, const Dialect& to, const Target& target) {
  const Dialect& from = source.dialect;
  const bool sessions = format::is_old_session(from) && format::is_old_session(to);
  const bool same =
      from.body == to.body || (from.body >= Body::by_layer && to.body >= Body::by_layer);
  return sessions && same && wants_as_read(source.state, target);
}

// Logits of before session 5 do not say to which places of the batch they belong.
void leave_out_unplaced_outputs(const Dialect& from, const Dialect& to, Dump& output,
                                const ConvertOptions& options, Conversion& result) {
  const Outputs& outputs = output.outputs;
  if (!to.outputs || places_outputs(from) || !places_outputs(to)) return;
  if (outputs.logits.size + outputs.embeddings.size == 0) return;
  if (!may_drop(options, "outputs"))
    throw Error(ErrorKind::refused,
                "the target wants to know the places of logits and embeddings in the batch, which "
                "this file does not say; --drop outputs leaves them out");
  result.costs.emplace_back("dropped the logits and embeddings: the next token is computed first");
  output.outputs = {};
}

// Cells that the new layout lists are left as they are, and so is the order of a bare state.
void leave_cells(State& state, const Dialect& to, const ConvertOptions& options,
                 Conversion& result) {
  const bool lists_unused = format::is_old_session(to) && to.body >= Body::cells;
  for (Memory& memory : state.memories)
    for (Stream& stream : memory.streams) {
      if (!to.lists_all) leave_out_beyond(stream, options, result);
      if (!lists_unused) pack(stream, result);
      if (memory.kind == MemoryKind::recurrent && !lists_unused) stream.v_transposed = 0;
    }
}

void leave_old_layout(const Dump& source, const Dialect& to, const ConvertOptions& options,
                      Conversion& result) {
  if (source.dialect.scrambled)
    throw Error(ErrorKind::refused, "K and V of this file are scrambled: nothing can restore them");
  Dump& output = result.plan.target;
  if (source.dialect.body != Body::typed_slot) leave_cells(output.state, to, options, result);
  leave_out_unplaced_outputs(source.dialect, to, output, options, result);
  if (format::is_old_session(to)) return;
  output.state.old = {};
  output.state.type_readings.clear();
  output.header.clear();
  output.rng_filler = output.logits_filler = {};
}

bool is_plain(const Dump& dump) {
  if (dump.state.arrangement != "kv") return false;
  for (const Layer& layer : dump.state.memories.front().streams.front().layers)
    if (layer.k.orientation == Orientation::absent || layer.v.orientation == Orientation::absent)
      return false;
  return true;
}

// Types that llama.cpp does not have must be given others.
void need_common_types(const Dump& dump, const Target& target) {
  for (const Layer& layer : dump.state.memories.front().streams.front().layers) {
    const bool k = info(layer.k.type).fork_only && !target.type_k;
    const bool v = info(layer.v.type).fork_only && !target.type_v;
    if (k || v)
      throw Error(ErrorKind::refused,
                  fmt::format("llama.cpp has no type {}: say --cache-type-{}",
                              info(k ? layer.k.type : layer.v.type).name, k ? 'k' : 'v'));
  }
}

// Words for what the memory has besides K and V came one after the other.
void need_words(const State& state, const Dialect& to) {
  for (const Memory& memory : state.memories) {
    const bool fits = memory.role == "recurrent" ? to.state_word
                      : memory.role == "index"   ? to.index_word
                                                 : true;
    if (!fits)
      throw Error(ErrorKind::refused,
                  fmt::format("{} of ik_llama.cpp has no place for its {} memory: that came with a "
                              "later version",
                              format::name_of(to), memory.role));
  }
}

void enter_fork(const Dump& source, const Dialect& to) {
  if (source.dialect.family == to.family) return need_words(source.state, to);
  if (!is_plain(source))
    throw Error(
        ErrorKind::refused,
        fmt::format("only plain caches have the same content in both families, and this is {}: "
                    "ik_llama.cpp keeps other rows or other caches for such a model",
                    source.layout));
}

void leave_fork(const Dump& source, const Target& target, Conversion& result) {
  if (!is_plain(source))
    throw Error(ErrorKind::refused,
                fmt::format("only plain caches have the same content in both families, and this is {}: "
                            "llama.cpp keeps other rows or other caches for such a model",
                            source.layout));
  need_common_types(source, target);
  result.costs.emplace_back(
      "ik_llama.cpp keeps one cache for models with a window and llama.cpp two: of such a model the "
      "output is refused by its loader");
}

}  // namespace

bool may_drop(const ConvertOptions& options, const std::string& part) {
  return options.drop.count(part) > 0 || options.strip.count(part) > 0;
}

bool places_outputs(const Dialect& dialect) {
  return !format::is_old_session(dialect) || dialect.body >= Body::output_ids;
}

void leave_source_layout(const Dump& source, const Dialect& to, const Target& target,
                         const ConvertOptions& options, Conversion& result) {
  const bool fork = source.dialect.family == Family::ik_llama;
  const bool old = source.dialect.body != Body::current;
  if (old && source.dialect != to) leave_old_layout(source, to, options, result);
  if (old && !keeps_places(source, to, target)) need_certain_types(source.state);
  if (fork && to.family != Family::ik_llama) leave_fork(source, target, result);
  if (to.family == Family::ik_llama) enter_fork(source, to);
}

}  // namespace kvtool::convert_steps
