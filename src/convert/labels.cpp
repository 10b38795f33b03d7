// Steps that change what cells are called.
#include <fmt/format.h>

#include <algorithm>

#include "convert/steps.h"
#include "format/container.h"
#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

bool lists(std::span<const SequenceId> ids, SequenceId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// Drops the cells of a stream that are not of sequence `id`; tells how many stay.
std::size_t keep_cells_of(Stream& stream, SequenceId id) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t cell = 0; cell < stream.cells.size(); ++cell)
    if (lists(stream.cells.sequences(cell), id)) order.push_back(cell);
  reorder(stream, order);
  return order.size();
}

bool memory_names_ids(const Memory& memory, const Dialect& dialect) {
  if (!format::holds_one_sequence(dialect)) return true;
  return memory.kind == MemoryKind::attention && dialect.sequence_ids;
}

}  // namespace

CellTable relabel(const CellTable& cells, CellExtension kind,
                  const std::function<void(Label&)>& change) {
  CellTable table(kind);
  table.reserve(cells.size());
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const auto ids = cells.sequences(c);
    Label label{cells.position(c), {ids.begin(), ids.end()}, cells.extra(c)};
    change(label);
    table.append(label.position, label.ids, label.extra);
  }
  return table;
}

void keep_sequence(State& state, SequenceId id) {
  std::size_t kept = 0;
  for (Memory& memory : state.memories)
    for (Stream& stream : memory.streams) kept += keep_cells_of(stream, id);
  if (kept == 0)
    throw Error(ErrorKind::refused, fmt::format("no cell belongs to sequence {}", id));
}

void name_sequence(State& state, const Dialect& dialect, SequenceId id) {
  for (Memory& memory : state.memories) {
    const bool named = memory_names_ids(memory, dialect);
    for (Stream& stream : memory.streams)
      stream.cells = relabel(stream.cells, stream.cells.extension(), [&](Label& label) {
        label.ids = named ? std::vector<SequenceId>{id} : std::vector<SequenceId>{};
      });
  }
}

SequenceId named_sequence(const State& state) {
  if (state.source_sequence) return *state.source_sequence;
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams)
      if (!stream.cells.empty() && !stream.cells.sequences(0).empty())
        return stream.cells.sequences(0).front();
  return 0;
}

std::uint64_t set_extension(State& state, CellExtension kind, const TokenOf& token_of) {
  std::uint64_t unknown = 0;
  for (Memory& memory : state.memories) {
    if (memory.kind != MemoryKind::attention) continue;
    for (Stream& stream : memory.streams) {
      const CellExtension before = stream.cells.extension();
      if (before == kind) continue;
      stream.cells = relabel(stream.cells, kind, [&](Label& label) {
        if (before == CellExtension::none) label.extra.x = label.extra.y = label.position;
        if (kind != CellExtension::xy_token) return;
        const auto token = token_of(label.position);
        unknown += token ? 0U : 1U;
        label.extra.token = token.value_or(-1);
      });
    }
  }
  return unknown;
}

}  // namespace kvtool::convert_steps
