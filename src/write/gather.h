// Copies chosen cells of one source tensor to a sink, in bounded memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/write.h"

namespace kvtool {

// A tensor of a source stream: `cells` cells of it lie in `source` as `tensor` says.
struct TensorSource {
  const Source* source;
  const Tensor* tensor;
  std::uint64_t cells;
};

// Runs of cells with the tensors they come from, in output order.
struct TensorRun {
  TensorSource from;
  std::uint64_t first;
  std::uint64_t count;
};

// Appends the rows of all runs.
void gather_rows(std::span<const TensorRun> runs, Sink& sink);
// Appends all channels, each made of the elements of all runs.
void gather_columns(std::span<const TensorRun> runs, Sink& sink);

}  // namespace kvtool
