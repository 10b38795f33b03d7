// The steps of a conversion. Each changes labels, shapes or the choice of cells of one state, and
// is applied alike to the state of the file and to those of its checkpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/convert.h"
#include "kvtool/dump.h"

namespace kvtool::convert_steps {

// A cell on its way from one table to another.
struct Label {
  Position position;
  std::vector<SequenceId> ids;
  CellExtra extra;
};

// The same cells with other labels, in a table with extension `kind`.
[[nodiscard]] CellTable relabel(const CellTable& cells, CellExtension kind,
                                const std::function<void(Label&)>& change);

// Sessions to slots: only the cells of one sequence stay, naming only it (attention) or nothing
// (recurrent). Throws Error(refused) if no cell is of that sequence.
void keep_sequence(State& state, SequenceId id);

// Gives every cell of a one-sequence state the ids that `dialect` wants it to have: the id in
// sessions and newer sequence files, none in older ones and in recurrent memories of slots.
void name_sequence(State& state, const Dialect& dialect, SequenceId id);

// The id that the cells of a one-sequence state name; 0 where they name none.
[[nodiscard]] SequenceId named_sequence(const State& state);

// Gives every attention memory `n` streams. One stream takes all cells; several take those of one
// sequence each, by its id, and a cell that several share is repeated. `one_sequence`: all cells go
// to the stream of `id`. Throws Error(refused) if an id has no stream.
void set_streams(State& state, std::uint32_t n, bool one_sequence, SequenceId id);

// Leaves out V where the target's model stores none. Throws Error(refused) where the target wants V
// and there is none.
void match_mla(State& state, const ModelShape& model);

// Types and V orientation that attention tensors shall have; empty: as they are.
struct TensorWishes {
  std::optional<ElementType> type_k;
  std::optional<ElementType> type_v;
  std::optional<bool> v_transposed;
};
// Throws Error(refused) for widths that are no whole blocks and for quantized transposed V.
void set_tensors(State& state, const TensorWishes& wishes);

// Token of a position, where it is known.
using TokenOf = std::function<std::optional<TokenId>(Position)>;
// Changes the extension of all attention cells. Cells get x = y = pos when they had none; tokens
// come from `token_of`, and where that knows none the cell gets -1, as for an embedding. Returns how
// many those are.
std::uint64_t set_extension(State& state, CellExtension kind, const TokenOf& token_of);

// What the target asks of tensors that `state` has none of, one sentence each: nothing in the output
// follows it. Empty where the state holds no cells, which fits any types.
[[nodiscard]] std::vector<std::string> idle_wishes(const State& state, const TensorWishes& wishes);

}  // namespace kvtool::convert_steps
