// What a cell holds: the bytes of its row, gathered by hand so that the writer is not needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kvtool/codec.h"
#include "kvtool/dump.h"
#include "support/bytes.h"

namespace kvtool::test {

// Where `size` bytes of cell `cell` lie, from its byte `offset` on (transposed: one element).
inline ByteVector read_extent(const Dump& dump, std::uint64_t offset, std::uint64_t size) {
  ByteVector bytes(static_cast<std::size_t>(size));
  dump.source->read_at(offset, bytes);
  return bytes;
}

inline ByteVector transposed_cell(const Dump& dump, const Tensor& tensor, std::uint64_t cells,
                                  std::uint64_t cell) {
  Bytes row;
  for (std::uint64_t channel = 0; channel < tensor.width; ++channel)
    row.append(read_extent(dump,
                           tensor.extent.offset + (channel * cells + cell) * tensor.element_bytes,
                           tensor.element_bytes));
  return row.get();
}

// The bytes of one cell in one tensor, as a row in either orientation.
inline ByteVector cell_payload(const Dump& dump, const Stream& stream, const Tensor& tensor,
                               std::uint64_t cell) {
  if (tensor.orientation == Orientation::absent) return {};
  if (tensor.orientation == Orientation::transposed)
    return transposed_cell(dump, tensor, stream.cells.size(), cell);
  return read_extent(dump, tensor.extent.offset + cell * tensor.row_bytes, tensor.row_bytes);
}

// The same as numbers.
inline std::vector<float> cell_values(const Dump& dump, const Stream& stream, const Tensor& tensor,
                                      std::uint64_t cell) {
  const ByteVector bytes = cell_payload(dump, stream, tensor, cell);
  std::vector<float> values(static_cast<std::size_t>(tensor.cell_elements()));
  dequantize(tensor.type, bytes, values);
  return values;
}

// Elements of one cell in a tensor.
inline std::uint64_t dimension(const Tensor& tensor) {
  return tensor.cell_elements();
}

}  // namespace kvtool::test
