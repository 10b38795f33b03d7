// Out of the layouts of before August 2024 and of ik_llama.cpp: what they have of their own is
// translated, left out when that is allowed, or refused.
#include "convert/other_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "write/certain_places.h"

namespace kvtool::convert_steps {
namespace {

bool may_drop(const ConvertOptions& options, const std::string& part) {
  return options.drop.count(part) > 0 || options.strip.count(part) > 0;
}

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

// Logits of before session 5 do not say to which places of the batch they belong.
void leave_out_unplaced_outputs(const Dialect& from, const Dialect& to, Dump& output,
                                const ConvertOptions& options, Conversion& result) {
  const Outputs& outputs = output.outputs;
  if (!to.outputs || from.body >= Body::output_ids || outputs.logits.size + outputs.embeddings.size == 0)
    return;
  if (!may_drop(options, "outputs"))
    throw Error(ErrorKind::refused,
                "the target wants to know the places of logits and embeddings in the batch, which "
                "this file does not say; --drop outputs leaves them out");
  result.costs.emplace_back("dropped the logits and embeddings: the next token is computed first");
  output.outputs = {};
}

void leave_old_layout(const Dump& source, const Dialect& to, const ConvertOptions& options,
                      Conversion& result) {
  if (source.dialect.scrambled)
    throw Error(ErrorKind::refused, "K and V of this file are scrambled: nothing can restore them");
  need_certain_types(source.state);
  Dump& output = result.plan.target;
  if (source.dialect.body != Body::typed_slot)
    for (Memory& memory : output.state.memories)
      for (Stream& stream : memory.streams) {
        leave_out_beyond(stream, options, result);
        pack(stream, result);
        if (memory.kind == MemoryKind::recurrent) stream.v_transposed = 0;
      }
  leave_out_unplaced_outputs(source.dialect, to, output, options, result);
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

void leave_source_layout(const Dump& source, const Dialect& to, const Target& target,
                         const ConvertOptions& options, Conversion& result) {
  if (source.dialect.body != to.body) leave_old_layout(source, to, options, result);
  if (source.dialect.family != to.family) leave_fork(source, target, result);
}

}  // namespace kvtool::convert_steps
