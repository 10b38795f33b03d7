#include "kvtool/dump.h"

#include "kvtool/checked.h"

namespace kvtool {

std::uint64_t Tensor::cell_bytes() const {
  switch (orientation) {
    case Orientation::absent: return 0;
    case Orientation::rows: return row_bytes;
    case Orientation::transposed: return checked_multiply(element_bytes, width);
  }
  return 0;
}

std::uint64_t Tensor::cell_elements() const {
  if (orientation == Orientation::absent) return 0;
  if (orientation == Orientation::transposed) return width;
  const ElementTypeInfo& t = info(type);
  const std::uint64_t headers = std::uint64_t{row_headers()} * t.row_header_bytes;
  return (row_bytes - headers) / t.block_bytes * t.block_elements;
}

std::uint64_t Stream::cell_bytes() const {
  std::uint64_t bytes = 0;
  for (const Layer& layer : layers)
    bytes = checked_add(bytes, checked_add(layer.k.cell_bytes(), layer.v.cell_bytes()));
  return bytes;
}

bool cannot_rewind(const Memory& memory) {
  return memory.kind == MemoryKind::recurrent || memory.role == "window";
}

std::set<SequenceId> sequence_ids(const Stream& stream) {
  std::set<SequenceId> ids;
  for (std::size_t c = 0; c < stream.cells.size(); ++c) {
    const auto of_cell = stream.cells.sequences(c);
    ids.insert(of_cell.begin(), of_cell.end());
  }
  return ids;
}

std::set<SequenceId> sequence_ids(const State& state) {
  std::set<SequenceId> ids;
  for (const Memory& memory : state.memories)
    for (const Stream& stream : memory.streams) ids.merge(sequence_ids(stream));
  return ids;
}

bool is_misaligned(const Tensor& tensor) { return tensor.heads > tensor.row_headers(); }

bool has_misaligned_rows(const Dump& dump) {
  bool any = false;
  for_each_stream(dump, [&](const Stream& stream) {
    for (const Layer& layer : stream.layers)
      any = any || is_misaligned(layer.k) || is_misaligned(layer.v);
  });
  return any;
}

WholeCells whole_cells(const Tensor& tensor, std::uint64_t cells) {
  if (!is_misaligned(tensor)) return {tensor, cells};
  WholeCells whole{tensor, 0};
  const std::uint64_t missing = tensor.heads - tensor.row_headers();
  whole.tensor.row_bytes += missing * info(tensor.type).row_header_bytes;
  whole.tensor.counts_heads = true;
  whole.count = tensor.extent.size / whole.tensor.row_bytes;
  whole.tensor.extent.size = whole.count * whole.tensor.row_bytes;
  return whole;
}

bool same_form(const Tensor& a, const Tensor& b) {
  return a.orientation == b.orientation && a.type == b.type && a.row_bytes == b.row_bytes &&
         a.element_bytes == b.element_bytes && a.width == b.width;
}

}  // namespace kvtool
