#include "convert/old_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "format/dialect.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

constexpr std::array old_types = {ElementType::f32,  ElementType::f16,   ElementType::q8_0,
                                  ElementType::q4_0, ElementType::q4_1,  ElementType::q5_0,
                                  ElementType::q5_1, ElementType::iq4_nl};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::refused, why); }

bool is_whole(const Layer& layer) {
  return layer.k.orientation != Orientation::absent && layer.v.orientation != Orientation::absent &&
         layer.ple.orientation == Orientation::absent;
}

// Builds aborted when they saved K in blocks, until 2024-02-21. Bare states do not tell the day.
void need_old_type(ElementType type, const Dialect& to, char side) {
  const bool number = info(type).block_elements == 1;
  const bool blocks = to.body > Body::by_layer &&
                      (to.header >= HeaderStruct::s96 || to.header == HeaderStruct::none);
  if (was_a_cache_type(type) && (number || blocks)) return;
  refuse(fmt::format("no build that saved {} had {} of type {}: say --cache-type-{}",
                     format::name_of(to), side == 'k' ? 'K' : 'V', info(type).name, side));
}

[[noreturn]] void refuse_other_model(const Memory& memory, const format::HeaderFacts& facts) {
  const std::vector<Layer>& layers = memory.streams[0].layers;
  const std::string start = "the model parameters of the target are of another model";
  if (facts.recurrent != (memory.kind == MemoryKind::recurrent))
    refuse(
        fmt::format("{}: {} K and V", start, facts.recurrent ? "it has states and no" : "it has"));
  if (facts.k_width.size() != layers.size())
    refuse(fmt::format("{}: it has {} layers, and this file {}", start, facts.k_width.size(),
                       layers.size()));
  for (std::size_t l = 0; l < layers.size(); ++l)
    if (layers[l].k.cell_elements() != facts.k_width[l])
      refuse(fmt::format("{}: they make K of {} elements a cell, and that of this file has {}",
                         start, facts.k_width[l], layers[l].k.cell_elements()));
  refuse(start + ": its V differs");
}

}  // namespace

bool was_a_cache_type(ElementType type) {
  return std::ranges::find(old_types, type) != old_types.end();
}

void need_one_memory(const State& state, const std::string& layout) {
  const bool one = state.memories.size() == 1 &&
                   std::ranges::all_of(state.memories[0].streams[0].layers, is_whole);
  if (!one)
    refuse(
        fmt::format("before August 2024 a model had one cache of K and V or one recurrent memory, "
                    "and this is {}",
                    layout));
}

void need_header_of_model(const Memory& memory, const format::HeaderFacts& facts,
                          const format::HeaderLayout& layout) {
  const std::vector<Layer>& layers = memory.streams[0].layers;
  bool same = facts.recurrent == (memory.kind == MemoryKind::recurrent) &&
              facts.k_width.size() == layers.size();
  for (std::size_t l = 0; same && l < layers.size(); ++l)
    same = layers[l].k.cell_elements() == facts.k_width[l] &&
           layers[l].v.cell_elements() == facts.v_width[l];
  if (same) return;
  const bool ungrouped = layout.id < HeaderStruct::j48 && !layers.empty() && !facts.recurrent &&
                         layers[0].k.cell_elements() < facts.n_embd;
  if (ungrouped)
    refuse(fmt::format(
        "builds of before 2023-07-23 knew no grouped queries: their K has {} elements a "
        "cell, as many as the embedding, and that of this file {}",
        facts.n_embd, layers[0].k.cell_elements()));
  refuse_other_model(memory, facts);
}

void need_old_types(const Stream& stream, const Dialect& to, std::uint32_t version) {
  if (stream.layers.empty()) return;
  const Layer& first = stream.layers.front();
  for (const Layer& layer : stream.layers)
    if (layer.k.type != first.k.type || layer.v.type != first.v.type)
      refuse(
          "layers of several types have no place in a session that does not store types: say "
          "--cache-type-k and --cache-type-v");
  need_old_type(first.k.type, to, 'k');
  need_old_type(first.v.type, to, 'v');
  if (to.body < Body::by_layer && first.k.type != first.v.type)
    refuse(
        fmt::format("in sessions of version {} K and V are of one type: say --cache-type-k and "
                    "--cache-type-v",
                    version));
}

void need_plain_order(const CellTable& cells, std::uint32_t version) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto ids = cells.sequences(c);
    if (ids.size() != 1 || ids[0] != cells.sequences(0)[0])
      refuse(
          fmt::format("sessions of version {} hold one sequence: keep one with kvtool seq keep or "
                      "kvtool extract",
                      version));
    if (cells.position(c) != static_cast<Position>(c))
      refuse(
          fmt::format("in sessions of version {} cell i is position i, and cell {} is position {} "
                      "here: kvtool defrag orders cells, and missing positions have no place",
                      version, c, cells.position(c)));
  }
}

void need_own_cells(const CellTable& cells) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto ids = cells.sequences(c);
    if (ids.size() != 1 || ids[0] != static_cast<SequenceId>(c))
      refuse(
          fmt::format("before August 2024 cell i was the state of sequence i alone, and cell {} is "
                      "of another or of several",
                      c));
  }
}

}  // namespace kvtool::convert_steps
