#include "cli/summary.h"

#include "kvtool/facts.h"

namespace kvtool::cli {

const Stream* stream_with_layers(const Memory& memory) {
  const Stream* found = nullptr;
  for (const Stream& stream : memory.streams)
    if (!stream.layers.empty() && (found == nullptr || found->cells.empty())) found = &stream;
  return found;
}

std::optional<Rotation> rotation_of(const Memory& memory, const Dialect& dialect) {
  if (!dialect.rotation || memory.kind != MemoryKind::attention) return std::nullopt;
  for (const Stream& stream : memory.streams)
    if (!stream.cells.empty()) return Rotation{stream.rot_k, stream.rot_v};
  return std::nullopt;
}

ByteFigures byte_figures(const Dump& dump) {
  ByteFigures figures;
  std::uint64_t in_cells = 0;
  for (const Memory& memory : dump.state.memories) {
    const std::uint64_t cell = bytes_per_cell(memory, dump.dialect);
    in_cells += cell * cells_of(memory);
    if (memory.kind == MemoryKind::attention) figures.per_cell += cell;
  }
  figures.fixed = dump.source->size() > in_cells ? dump.source->size() - in_cells : 0;
  return figures;
}

}  // namespace kvtool::cli
