#include "convert/whole_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convert/other_family.h"
#include "kvtool/edit.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

constexpr Position none_lost = std::numeric_limits<Position>::max();

// How many cells of a stream are whole in all of its tensors.
std::uint64_t whole_in(const Stream& stream) {
  std::uint64_t whole = stream.cells.size();
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      whole = std::min(whole, whole_cells(*tensor, stream.cells.size()).count);
  return whole;
}

Position first_lost_position(const State& state) {
  Position first = none_lost;
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = whole_in(stream); c < stream.cells.size(); ++c)
        first = std::min(first, stream.cells.position(c));
  return first;
}

// The most tokens whose cells all lie before `end`, and that cut no medium.
std::uint64_t tokens_before(const TokenArea& tokens, Position end) {
  std::uint64_t count = tokens.ids.size();
  const auto fits = [&] {
    const auto position = position_of(tokens, count);
    return position && *position <= static_cast<std::uint64_t>(end) &&
           medium_across(tokens, count) == nullptr;
  };
  while (count > 0 && !fits()) --count;
  return count;
}

// The same dump with rows that are as long as they were in memory.
std::shared_ptr<const Dump> with_true_rows(const Dump& dump) {
  auto whole = std::make_shared<Dump>(dump);
  for_each_stream(*whole, [](Stream& stream) {
    for (Layer& layer : stream.layers)
      for (Tensor* tensor : {&layer.k, &layer.v})
        *tensor = whole_cells(*tensor, stream.cells.size()).tensor;
  });
  return whole;
}

void need_other_type(const Target& target) {
  if (!target.type_k || *target.type_k == ElementType::q8_KV)
    throw Error(
        ErrorKind::refused,
        "ik_llama.cpp saves K of type q8_KV and several heads with its last cells cut off, and "
        "loads it so: say --cache-type-k for another type");
}

}  // namespace

Plan whole_cells_of(const std::shared_ptr<const Dump>& dump, const Target& target,
                    const ConvertOptions& options, Conversion& result) {
  if (!has_misaligned_rows(*dump)) return Plan::of(dump);
  need_other_type(target);
  const Position lost = first_lost_position(dump->state);
  if (lost == none_lost) return Plan::of(with_true_rows(*dump));
  const std::uint64_t tokens = tokens_before(dump->tokens, lost);
  if (!may_drop(options, "cells"))
    throw Error(ErrorKind::refused,
                fmt::format("K of the cells from position {} on is not in the file (kvtool check): "
                            "--drop cells converts the first {} tokens and leaves out the rest",
                            lost, tokens));
  result.costs.push_back(
      fmt::format("kept {} of {} tokens: K of the cells from position {} on was not "
                  "saved",
                  tokens, dump->tokens.ids.size(), lost));
  return truncate(with_true_rows(*dump), tokens);
}

}  // namespace kvtool::convert_steps
