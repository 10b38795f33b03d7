#include "write/certain_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"

namespace kvtool {
namespace {

std::string names_of(const TypeReading& reading) {
  return fmt::format("{} and {}", info(reading.k).name, info(reading.v).name);
}

// All cells of a stream of source `dump`, in their order.
bool is_whole(const Stream& stream, const Dump& dump, std::uint32_t number) {
  if (stream.origin.size() != 1) return false;
  const CellRun& run = stream.origin.front();
  if (run.dump != number || run.first != 0 || run.shift != 0) return false;
  bool whole = false;
  for_each_stream(dump, [&](const Stream& source) {
    whole |= source.ordinal == run.stream && source.cells.size() == run.count;
  });
  return whole;
}

bool stays_in_place(const State& state, const Dump& dump, std::uint32_t number) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      if (!is_whole(stream, dump, number)) return false;
  return true;
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
  }
}

}  // namespace kvtool
