#include "kvtool/stats.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "kvtool/codec.h"
#include "kvtool/tensor.h"
#include "write/row_reader.h"

namespace kvtool {
namespace {

constexpr std::uint64_t panel_bytes = 4U << 20U;

// Sums over the rows of one tensor.
class Accumulator {
 public:
  Accumulator(std::uint64_t width, bool keep_cells)
      : channels_(static_cast<std::size_t>(width)), keep_cells_(keep_cells) {}

  void add_row(std::span<const float> row, std::span<const std::byte> bytes) {
    double squares = 0;
    bool zero = true;
    const std::uint64_t odd_before = nan_ + infinite_;
    for (std::size_t c = 0; c < row.size(); ++c) {
      zero = zero && row[c] == 0;
      squares += add_value(c, row[c]);
    }
    zero_cells_ += zero ? 1U : 0U;
    const bool fresh = seen_.insert(XXH3_64bits(bytes.data(), bytes.size())).second;
    repeated_cells_ += fresh ? 0U : 1U;
    ++cells_;
    if (nan_ + infinite_ > odd_before) squares = std::numeric_limits<double>::quiet_NaN();
    if (keep_cells_) cell_rms_.push_back(std::sqrt(squares / static_cast<double>(row.size())));
  }

  void finish(TensorStats& stats, const StatsOptions& options) {
    const std::uint64_t finite = cells_ * channels_.size() - nan_ - infinite_;
    stats.nan = nan_;
    stats.infinite = infinite_;
    stats.zero_cells = zero_cells_;
    stats.repeated_cells = repeated_cells_;
    stats.cell_rms = std::move(cell_rms_);
    if (finite == 0) return;
    stats.min = min_;
    stats.max = max_;
    stats.mean = sum_ / static_cast<double>(finite);
    stats.rms = std::sqrt(squares_ / static_cast<double>(finite));
    stats.outliers = outliers(options);
  }

 private:
  double add_value(std::size_t channel, float value) {
    if (std::isnan(value)) {
      ++nan_;
      return 0;
    }
    if (std::isinf(value)) {
      ++infinite_;
      return 0;
    }
    const double x = value;
    min_ = std::min(min_, x);
    max_ = std::max(max_, x);
    sum_ += x;
    squares_ += x * x;
    channels_[channel] += x * x;
    return x * x;
  }

  std::vector<OutlierChannel> outliers(const StatsOptions& options) const {
    std::vector<double> rms;
    for (const double squares : channels_)
      rms.push_back(std::sqrt(squares / static_cast<double>(cells_)));
    std::vector<double> sorted = rms;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2),
                     sorted.end());
    const double median = sorted[sorted.size() / 2];
    std::vector<OutlierChannel> list;
    for (std::size_t c = 0; c < rms.size(); ++c)
      if (median > 0 && rms[c] >= options.outlier_times * median)
        list.push_back({static_cast<std::uint32_t>(c), rms[c], rms[c] / median});
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& x, const auto& y) { return x.rms > y.rms; });
    if (list.size() > options.most_outliers) list.resize(options.most_outliers);
    return list;
  }

  std::vector<double> channels_;  // sums of squares
  std::unordered_set<std::uint64_t> seen_;
  std::vector<double> cell_rms_;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  double squares_ = 0;
  std::uint64_t cells_ = 0;
  std::uint64_t nan_ = 0;
  std::uint64_t infinite_ = 0;
  std::uint64_t zero_cells_ = 0;
  std::uint64_t repeated_cells_ = 0;
  bool keep_cells_;
};

// Reads a tensor row by row into an accumulator.
void accumulate(const Source& source, const Tensor& tensor, std::uint64_t cells,
                std::uint32_t rotation, Accumulator& sums) {
  const TensorRun run{{&source, &tensor, cells}, 0, cells};
  RowReader reader(std::span(&run, 1));
  const auto width = static_cast<std::size_t>(tensor.cell_elements());
  const auto row = static_cast<std::size_t>(tensor.cell_bytes());
  const std::uint64_t step = std::max<std::uint64_t>(1, panel_bytes / (width * sizeof(float)));
  std::vector<float> values;
  for (std::uint64_t first = 0; first < cells; first += step) {
    reader.read(first, std::min(step, cells - first), [&](const Tensor&, std::uint64_t, auto rows) {
      values.resize(rows.size() / row * width);
      dequantize(tensor.type, rows, values);
      if (rotation != 0) rotate(values, rotation);
      for (std::size_t r = 0; r * row < rows.size(); ++r)
        sums.add_row(std::span(values).subspan(r * width, width), rows.subspan(r * row, row));
    });
  }
}

// One tensor of a stream as an entry of the list.
void add_tensor(std::vector<TensorStats>& list, const Dump& dump, const Stream& stream,
                TensorStats entry, const StatsOptions& options) {
  const Layer& layer = stream.layers[entry.layer];
  const Tensor& tensor = entry.is_v ? layer.v : layer.k;
  if (tensor.orientation == Orientation::absent || tensor.extent.size == 0) return;
  entry.type = tensor.type;
  const WholeCells whole = whole_cells(tensor, stream.cells.size());
  entry.cells = whole.count;
  entry.missing_cells = stream.cells.size() - whole.count;
  entry.width = tensor.cell_elements();
  Accumulator sums(entry.width, options.cell_rms);
  accumulate(*dump.source, whole.tensor, entry.cells, entry.is_v ? stream.rot_v : stream.rot_k, sums);
  sums.finish(entry, options);
  if (options.cell_rms) entry.cell_rms.resize(stream.cells.size(), std::numeric_limits<double>::quiet_NaN());
  list.push_back(std::move(entry));
}

}  // namespace

std::vector<TensorStats> stats_of(const Dump& dump, const StatsOptions& options) {
  std::vector<TensorStats> list;
  for (std::uint32_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::uint32_t s = 0; s < dump.state.memories[m].streams.size(); ++s) {
      const Stream& stream = dump.state.memories[m].streams[s];
      for (std::uint32_t l = 0; l < stream.layers.size(); ++l)
        for (const bool is_v : {false, true}) {
          TensorStats entry;
          entry.memory = m;
          entry.stream = s;
          entry.layer = l;
          entry.is_v = is_v;
          add_tensor(list, dump, stream, std::move(entry), options);
        }
    }
  dump.source->require_unchanged();
  return list;
}

}  // namespace kvtool
