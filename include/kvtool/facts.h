// Facts about a dump that follow from its metadata alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// Positions [begin, end).
struct PositionRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const PositionRange&) const = default;
};

// One sequence as far as one stream holds it.
struct SequenceFacts {
  std::optional<SequenceId> id;  // absent: the one sequence of a file that stores no ids
  std::uint64_t cells = 0;
  Position pos_min = 0;
  Position pos_max = 0;
  std::vector<PositionRange> missing;  // gaps between pos_min and pos_max
  std::uint64_t holes = 0;             // positions in these gaps
  std::uint64_t runs = 0;        // stretches of neighbouring cells with ascending positions
  std::uint64_t duplicates = 0;  // cells that repeat the position (and x, y) of another one
};

// The sequences of a stream by id. `one_sequence`: cells without ids belong to one sequence. The
// cells of an image cover the columns and rows they name, so an image leaves no holes.
[[nodiscard]] std::vector<SequenceFacts> sequences_of(const Stream& stream, bool one_sequence);
// Of a whole memory, streams together (runs are added up).
[[nodiscard]] std::vector<SequenceFacts> sequences_of(const Memory& memory, bool one_sequence);

// True for slot files and sequence states.
[[nodiscard]] bool holds_one_sequence(const Dump& dump);

// How V lies in a memory: rows, transposed, absent, or mixed if streams differ; nothing without
// layers.
[[nodiscard]] std::string v_layout_of(const Memory& memory);

// Bytes that one more cell with one sequence costs in a memory: labels, and K and V of all layers.
[[nodiscard]] std::uint64_t bytes_per_cell(const Memory& memory, const Dialect& dialect);
// All cells of a memory.
[[nodiscard]] std::uint64_t cells_of(const Memory& memory);

// The token of each cell of a stream, where the dump makes it certain: from the cell's extension,
// or, in a dump of one sequence, from the plain place of its position in the token list.
[[nodiscard]] std::vector<std::optional<TokenId>> cell_tokens(const Dump& dump,
                                                              const Stream& stream);

// The words that output uses for these.
[[nodiscard]] std::string name_of(Family family);
[[nodiscard]] std::string name_of(MemoryKind kind);
[[nodiscard]] std::string name_of(Orientation orientation);
// "session", "slot" or "state".
[[nodiscard]] std::string kind_of(const Dump& dump);

}  // namespace kvtool
