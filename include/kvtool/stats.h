// Figures of the values of a dump, tensor by tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// A channel (one element of the row) that is much larger than the others.
struct OutlierChannel {
  std::uint32_t channel = 0;
  double rms = 0;
  double times_median = 0;  // over the median rms of the tensor's channels
};

// Values of K or V (R or S) of one layer in one stream. Figures leave out NaN and infinities.
struct TensorStats {
  std::uint32_t memory = 0;
  std::uint32_t stream = 0;
  std::uint32_t layer = 0;
  bool is_v = false;
  ElementType type = ElementType::f32;
  std::uint64_t cells = 0;          // looked at
  std::uint64_t missing_cells = 0;  // those that the file does not have whole, see is_misaligned()
  std::uint64_t width = 0;  // elements of a cell
  double min = 0;
  double max = 0;
  double mean = 0;
  double rms = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zero_cells = 0;      // cells whose values are all zero
  std::uint64_t repeated_cells = 0;  // cells whose bytes another cell has had before them
  std::vector<OutlierChannel> outliers;  // largest first
  std::vector<double> cell_rms;          // one a cell, for drawing; only on request; NaN for a cell
                                         // with a value that is not finite, and for a missing one
};

struct StatsOptions {
  bool cell_rms = false;           // fill TensorStats::cell_rms
  double outlier_times = 5;        // channels from this many times the median on
  std::size_t most_outliers = 8;   // listed per tensor
};

// Reads every tensor once, in bounded memory. Rotated rows are turned back where the dump says how,
// so that channels are the model's own. Throws Error(io), also when the file changed meanwhile, and
// Error(unsupported) for types whose values kvtool does not know.
[[nodiscard]] std::vector<TensorStats> stats_of(const Dump& dump, const StatsOptions& options = {});

}  // namespace kvtool
