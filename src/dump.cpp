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
  return (row_bytes - t.row_header_bytes) / t.block_bytes * t.block_elements;
}

}  // namespace kvtool
