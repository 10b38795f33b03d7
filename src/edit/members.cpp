#include "edit/members.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool {

SequenceId id_of_one_sequence(const State& state) {
  if (state.source_sequence) return *state.source_sequence;
  const auto ids = sequence_ids(state);
  return ids.empty() ? 0 : *ids.begin();
}

namespace {

bool is_listed_without_data(const State& state, SequenceId sequence) {
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; c < stream.beyond.size(); ++c)
        for (const SequenceId id : stream.beyond.sequences(c))
          if (id == sequence) return true;
  return false;
}

}  // namespace

void require_sequence(const Dump& dump, SequenceId sequence) {
  if (format::holds_one_sequence(dump.dialect)) {
    const SequenceId only = id_of_one_sequence(dump.state);
    if (sequence == only) return;
    throw Error(ErrorKind::refused,
                fmt::format("holds one sequence, {}, and not {}", only, sequence));
  }
  const auto ids = sequence_ids(dump.state);
  if (ids.count(sequence) > 0) return;
  if (is_listed_without_data(dump.state, sequence))
    throw Error(ErrorKind::refused,
                fmt::format("the cells of sequence {} are listed without K and V: the build that saved "
                            "them lost their content",
                            sequence));
  throw Error(ErrorKind::refused,
              ids.empty() ? fmt::format("no cell belongs to sequence {}", sequence)
                          : fmt::format("no cell belongs to sequence {}; there are {}", sequence,
                                        fmt::join(ids, ", ")));
}

bool Members::has(const CellTable& cells, std::size_t cell) const {
  if (all_) return true;
  const auto ids = cells.sequences(cell);
  return std::find(ids.begin(), ids.end(), *sequence_) != ids.end();
}

bool Members::alone(const CellTable& cells, std::size_t cell) const {
  if (all_) return true;
  return std::ranges::all_of(cells.sequences(cell),
                             [&](SequenceId id) { return id == *sequence_; });
}

Members members_of(const Dump& dump, std::optional<SequenceId> sequence) {
  if (sequence) require_sequence(dump, *sequence);
  return {sequence, format::holds_one_sequence(dump.dialect)};
}

}  // namespace kvtool
