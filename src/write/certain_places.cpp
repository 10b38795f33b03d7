#include "write/certain_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"

namespace kvtool {
namespace {

std::string names_of(const TypeReading& reading) {
  return fmt::format("{} and {}", info(reading.k).name, info(reading.v).name);
}

// The stream of source `dump` of which this one has all cells in their order, if there is one.
const Stream* kept_stream(const Stream& stream, const Dump& dump, std::uint32_t number) {
  if (stream.origin.size() != 1) return nullptr;
  const CellRun& run = stream.origin.front();
  if (run.dump != number || run.first != 0 || run.shift != 0) return nullptr;
  const Stream* kept = nullptr;
  for_each_stream(dump, [&](const Stream& source) {
    if (source.ordinal == run.stream && source.cells.size() == run.count) kept = &source;
  });
  return kept;
}

// Whether all streams are such and is_kept(target, source) is true of them.
template <class IsKept>
bool all_kept(const State& state, const Dump& dump, std::uint32_t number, const IsKept& is_kept) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams) {
      const Stream* source = kept_stream(stream, dump, number);
      if (source == nullptr || !is_kept(stream, *source)) return false;
    }
  return true;
}

bool stays_in_place(const State& state, const Dump& dump, std::uint32_t number) {
  return all_kept(state, dump, number, [](const Stream&, const Stream&) { return true; });
}

bool same_forms(const Stream& a, const Stream& b) {
  return std::ranges::equal(a.layers, b.layers, [](const Layer& x, const Layer& y) {
    return same_form(x.k, y.k) && same_form(x.v, y.v);
  });
}

[[noreturn]] void refuse_misaligned_rows(const Dump& source) {
  throw Error(ErrorKind::refused,
              fmt::format("{}: its K of type {} has a row for each of several heads, and ik_llama.cpp "
                          "saved it as if they were one, so that cells are neither apart nor all in "
                          "the file (kvtool check says how many): kvtool convert --cache-type-k makes "
                          "another type of those that are",
                          source.source->name(), info(ElementType::q8_KV).name));
}

}  // namespace

void refuse_uncertain_types(const State& state) {
  const auto& readings = state.type_readings;
  const std::string doubt =
      readings.size() < 2
          ? "the content does not tell them"
          : fmt::format("{} are as likely as {}", names_of(readings[0]), names_of(readings[1]));
  throw Error(ErrorKind::refused,
              fmt::format("the types of K and V are not stored, and {}: say --k-type and --v-type",
                          doubt));
}

void require_certain_places(const Plan& plan) {
  for (std::uint32_t i = 0; i < plan.sources.size(); ++i) {
    const Dump& source = *plan.sources[i];
    if (source.state.types_uncertain && !stays_in_place(plan.target.state, source, i))
      refuse_uncertain_types(source.state);
    if (has_misaligned_rows(source) && !all_kept(plan.target.state, source, i, same_forms))
      refuse_misaligned_rows(source);
  }
}

}  // namespace kvtool
