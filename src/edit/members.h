// Whose cells an edit is about.
#pragma once

#include <optional>
#include <string>

#include "kvtool/dump.h"

namespace kvtool {

// The id of the one sequence of a slot file or sequence state; 0 if it names none.
[[nodiscard]] SequenceId id_of_one_sequence(const State& state);

// Throws Error(refused) unless the dump holds the sequence.
void require_sequence(const Dump& dump, SequenceId sequence);

// The cells of one sequence, or of all.
class Members {
 public:
  // `one`: the dump holds one sequence, whatever its cells name.
  Members(std::optional<SequenceId> sequence, bool one)
      : sequence_(sequence), all_(one || !sequence) {}

  [[nodiscard]] bool has(const CellTable& cells, std::size_t cell) const;
  // True if the cell belongs to nobody else.
  [[nodiscard]] bool alone(const CellTable& cells, std::size_t cell) const;
  // True if every cell is meant.
  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] std::optional<SequenceId> sequence() const { return sequence_; }

 private:
  std::optional<SequenceId> sequence_;
  bool all_;
};

// The members of a dump that `sequence` names. Throws Error(refused) if there is no such sequence.
[[nodiscard]] Members members_of(const Dump& dump, std::optional<SequenceId> sequence);

}  // namespace kvtool
