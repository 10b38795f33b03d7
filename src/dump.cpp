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

}  // namespace kvtool
