// The tokens of many sequences of a dump, which is gone over once for all of them.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "edit/token_places.h"
#include "kvtool/dump.h"

namespace kvtool {

// What known_tokens() of kvtool/sequences.h says of each sequence. The dump must outlive it.
class KnownTokens {
 public:
  explicit KnownTokens(const Dump& dump);

  [[nodiscard]] std::vector<TokenId> of(SequenceId sequence) const;

 private:
  // A cell of a sequence.
  struct Cell {
    Position position;
    TokenId token;  // as the cell names it
    bool listed;    // it is also one of the sequence whose tokens the list holds
    std::uint64_t number;  // which of all cells it is
  };
  using Cells = std::vector<Cell>;

  void add_cells(const CellTable& table, std::uint64_t& number);
  [[nodiscard]] std::optional<TokenId> next(const Cell& cell, std::size_t index) const;

  const Dump& dump_;
  bool one_;    // the dump holds one sequence, whatever its cells name
  bool named_;  // cells name their tokens
  std::optional<TokenPlaces> places_;
  std::map<SequenceId, Cells> cells_;  // by position; of one sequence: under the id 0
};

}  // namespace kvtool
