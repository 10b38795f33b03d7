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

void require_sequence(const Dump& dump, SequenceId sequence) {
  if (format::holds_one_sequence(dump.dialect)) {
    const SequenceId only = id_of_one_sequence(dump.state);
    if (sequence == only) return;
    throw Error(ErrorKind::refused,
                fmt::format("holds one sequence, {}, and not {}", only, sequence));
  }
  const auto ids = sequence_ids(dump.state);
  if (ids.count(sequence) > 0) return;
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
