// One tensor in another type, orientation or rotation, in bounded memory.
#pragma once

#include <cstdint>
#include <span>

#include "kvtool/tensor.h"
#include "write/gather.h"

namespace kvtool {

struct TensorJob {
  std::span<const TensorRun> runs;        // the cells, in output order
  std::span<const std::uint32_t> rotated; // width of the rotation of each run's rows, 0: none
  const Tensor& target;                   // shape of the output
  std::uint32_t rotation;                 // width of the rotation that the output shall have
};

// True when the job is a plain copy of whole cells.
[[nodiscard]] bool needs_no_conversion(const TensorJob& job);

// Appends the tensor to the sink. What the output's type loses is added to `errors`, measured in
// the rotation of the output. Throws Error(unsupported) for types whose values are not known.
void convert_tensor(const TensorJob& job, Sink& sink, ErrorFigures& errors);

}  // namespace kvtool
