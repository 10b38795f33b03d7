#include "compare/figures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "io/aligned_bytes.h"
#include "kvtool/codec.h"
#include "kvtool/tensor.h"
#include "write/row_reader.h"

namespace kvtool {
namespace {

// Bytes of a side that are compared at once: rows that stay in the processor's cache.
constexpr std::uint64_t panel_bytes = 256U << 10U;
// Of a transposed side more is held as it is stored and turned panel by panel, as the piece of each
// channel must be worth a system call; all threads share the sum.
constexpr std::uint64_t bands_bytes = 8U << 20U;
constexpr std::uint64_t batch_elements = 2U << 10U;  // numbers at once: for the first cache

const Tensor& tensor_in(const Stream& stream, const TensorPair& tensor) {
  const Layer& layer = stream.layers.at(tensor.layer);
  return tensor.is_v ? layer.v : layer.k;
}

bool continues(const TensorRun& run, const Tensor* tensor, std::uint32_t cell) {
  return run.from.tensor == tensor && run.first + run.count == cell;
}

std::vector<CellPlace> places_of(std::span<const CellPair> pairs, CellPlace CellPair::*side) {
  std::vector<CellPlace> places;
  places.reserve(pairs.size());
  for (const CellPair& pair : pairs) places.push_back(pair.*side);
  return places;
}

// The rows of one side of all pairs, panel by panel.
class Side {
 public:
  Side(const Dump& dump, const TensorPair& tensor, std::span<const CellPlace> places,
       std::uint64_t band_bytes = 0)
      : shape_(*shape_of(dump, tensor)),
        rotation_(rotation_of(dump, tensor)),
        runs_(runs_of(dump, tensor, places)) {
    reader_.begin(runs_, band_bytes);
  }

  // Stored bytes of cells [first, first + count), until the next call. Cells of one run are handed
  // on as they were read.
  std::span<const std::byte> bytes(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t row = shape_.cell_bytes();
    std::span<const std::byte> all;
    reader_.read(first, count, [&](const Tensor&, std::uint64_t at, auto rows) {
      all = rows.size() == count * row ? rows : joined((at - first) * row, rows, count * row);
    });
    return all;
  }
  // The bytes as numbers in the model's own space.
  std::span<const float> values(std::span<const std::byte> bytes) {
    const auto rows = bytes.size() / std::max<std::uint64_t>(1, shape_.cell_bytes());
    values_.resize(static_cast<std::size_t>(rows * shape_.cell_elements()));
    dequantize(shape_.type, bytes, values_);
    if (rotation_ != 0) rotate(values_, rotation_);
    return values_;
  }
  [[nodiscard]] const Tensor& shape() const { return shape_; }
  [[nodiscard]] std::uint32_t rotation() const { return rotation_; }

 private:
  std::span<const std::byte> joined(std::uint64_t at, std::span<const std::byte> rows,
                                    std::uint64_t size) {
    bytes_.resize(static_cast<std::size_t>(size));
    std::memcpy(bytes_.data() + at, rows.data(), rows.size());
    return bytes_;
  }

  const Tensor& shape_;
  std::uint32_t rotation_;
  std::vector<TensorRun> runs_;
  RowReader reader_;
  AlignedBytes bytes_;
  std::vector<float> values_;
};

// Compares both sides of a tensor.
class TensorComparer {
 public:
  TensorComparer(Side& a, Side& b, std::uint64_t cells, const CompareOptions& options)
      : a_(a),
        b_(b),
        cells_(cells),
        tolerance_{options.absolute, options.relative},
        elements_(a.shape().cell_elements()),
        straight_(comparable_bytes() && a.rotation() == 0 && sums_stored(a.shape().type)),
        coarse_(a.shape().type != ElementType::f32 && b.shape().type != ElementType::f32) {}

  // True if all cells have the same bytes, which needs no numbers.
  bool all_equal() {
    if (!comparable_bytes()) return false;
    for (std::uint64_t first = 0; first < cells_; first += step()) {
      const std::uint64_t count = std::min(step(), cells_ - first);
      const auto x = a_.bytes(first, count);
      const auto y = b_.bytes(first, count);
      if (!x.empty() && std::memcmp(x.data(), y.data(), x.size()) != 0) return false;
    }
    return true;
  }

  Sums numbers(TensorComparison& result, CellSums& cells) {
    Sums all;
    cells.of_pair.resize(static_cast<std::size_t>(cells_));
    for (std::uint64_t first = 0; first < cells_; first += step()) {
      const std::uint64_t count = std::min(step(), cells_ - first);
      const auto x = a_.bytes(first, count);
      const auto y = b_.bytes(first, count);
      compare_panel(x, y, first, count, {result, cells, all});
    }
    return all;
  }

 private:
  // Where figures go.
  struct Figures {
    TensorComparison& result;
    CellSums& cells;
    Sums& all;
  };

  static bool sums_stored(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::q8_0;
  }
  bool comparable_bytes() const {
    return a_.shape().type == b_.shape().type && a_.rotation() == b_.rotation();
  }
  // Cells that are read at once, and those that are numbers at once.
  std::uint64_t step() const {
    const std::uint64_t cell = std::max(a_.shape().cell_bytes(), b_.shape().cell_bytes());
    return std::max<std::uint64_t>(1, panel_bytes / std::max<std::uint64_t>(1, cell));
  }
  std::uint64_t batch() const {
    return std::max<std::uint64_t>(1, batch_elements / std::max<std::uint64_t>(1, elements_));
  }

  static std::span<const std::byte> rows_of(const Side& side, std::span<const std::byte> bytes,
                                            std::uint64_t first, std::uint64_t count) {
    const std::uint64_t row = side.shape().cell_bytes();
    return bytes.subspan(static_cast<std::size_t>(first * row),
                         static_cast<std::size_t>(count * row));
  }

  // Stored rows of `count` pairs from number `first` on.
  void compare_panel(std::span<const std::byte> x, std::span<const std::byte> y,
                     std::uint64_t first, std::uint64_t count, const Figures& to) {
    const std::uint64_t most = straight_ ? 1 : batch();
    for (std::uint64_t cell = 0; cell < count; cell += most) {
      const std::uint64_t n = std::min(most, count - cell);
      const auto rows_x = rows_of(a_, x, cell, n);
      const auto rows_y = rows_of(b_, y, cell, n);
      const auto sums =
          straight_ ? compare_stored(a_.shape().type, rows_x, rows_y, tolerance_) : std::nullopt;
      if (sums)
        note(*sums, first + cell, to);
      else
        compare_batch(a_.values(rows_x), b_.values(rows_y), first + cell, to);
    }
  }

  // The same as numbers.
  void compare_batch(std::span<const float> x, std::span<const float> y, std::uint64_t first,
                     const Figures& to) const {
    const auto row = static_cast<std::size_t>(elements_);
    for (std::size_t begin = 0; begin < x.size(); begin += row)
      note(sums_of(x.subspan(begin, row), y.subspan(begin, row)), first + begin / row, to);
  }

  Sums sums_of(std::span<const float> x, std::span<const float> y) const {
    if (coarse_)
      if (const auto sums =
              compare_stored(ElementType::f32, std::as_bytes(x), std::as_bytes(y), tolerance_))
        return *sums;
    return compare_values(x, y, tolerance_);
  }

  static void note(const Sums& sums, std::uint64_t pair, const Figures& to) {
    to.all.add(sums);
    to.cells.of_pair[static_cast<std::size_t>(pair)] = sums;
    to.result.over_tolerance += sums.over || sums.not_finite > 0 ? 1U : 0U;
    to.result.equal_cells += sums.difference2 == 0 && sums.not_finite == 0 ? 1U : 0U;
  }

  Side& a_;
  Side& b_;
  std::uint64_t cells_;
  Tolerance tolerance_;
  std::uint64_t elements_;
  bool straight_;  // the sums come straight from the bytes
  bool coarse_;    // no side has more digits than sums in floats are worth
};

void fill(TensorComparison& result, const Sums& sums) {
  result.values = sums.values;
  result.max_abs = sums.max_abs;
  result.not_finite = sums.not_finite;
  result.not_finite_in_both = sums.not_finite_in_both;
  if (sums.values > 0) result.rms = std::sqrt(sums.difference2 / static_cast<double>(sums.values));
  if (sums.a2 > 0) result.relative_l2 = std::sqrt(sums.difference2 / sums.a2);
  else if (sums.difference2 > 0) result.relative_l2 = HUGE_VAL;
  const double norms = std::sqrt(sums.a2) * std::sqrt(sums.b2);
  const double product = (sums.a2 + sums.b2 - sums.difference2) / 2;  // of a and b
  result.cosine = norms > 0 ? product / norms : (sums.difference2 > 0 ? 0.0 : 1.0);
}

}  // namespace

void CellSums::add(const CellSums& other) {
  for (std::size_t i = 0; i < other.of_pair.size(); ++i) of_pair[i].add(other.of_pair[i]);
}

const Tensor* shape_of(const Dump& dump, const TensorPair& tensor) {
  for (const Stream& stream : dump.state.memories[tensor.memory].streams)
    if (!stream.cells.empty() && tensor.layer < stream.layers.size())
      return &tensor_in(stream, tensor);
  return nullptr;
}

std::uint32_t rotation_of(const Dump& dump, const TensorPair& tensor) {
  for (const Stream& stream : dump.state.memories[tensor.memory].streams)
    if (!stream.cells.empty()) return tensor.is_v ? stream.rot_v : stream.rot_k;
  return 0;
}

std::vector<TensorRun> runs_of(const Dump& dump, const TensorPair& tensor,
                               std::span<const CellPlace> places) {
  std::vector<TensorRun> runs;
  for (const CellPlace& place : places) {
    const Stream& stream = dump.state.memories[tensor.memory].streams[place.stream];
    const Tensor* from = &tensor_in(stream, tensor);
    if (!runs.empty() && continues(runs.back(), from, place.cell))
      ++runs.back().count;
    else
      runs.push_back({{dump.source.get(), from, stream.cells.size()}, place.cell, 1});
  }
  return runs;
}

TensorComparison compare_tensor(const Dump& a, const Dump& b, const TensorPair& tensor,
                                std::span<const CellPair> pairs, const CompareOptions& options,
                                CellSums& cells) {
  cells.of_pair.clear();
  TensorComparison result;
  result.memory = tensor.memory;
  result.layer = tensor.layer;
  result.is_v = tensor.is_v;
  result.cells = pairs.size();
  const auto places_a = places_of(pairs, &CellPair::a);
  const auto places_b = places_of(pairs, &CellPair::b);
  const std::uint64_t band_bytes = bands_bytes / std::max(1U, options.threads);
  Side side_a(a, tensor, places_a, band_bytes);
  Side side_b(b, tensor, places_b, band_bytes);
  TensorComparer comparer(side_a, side_b, pairs.size(), options);
  if (comparer.all_equal())
    result.equal_cells = pairs.size();
  else
    fill(result, comparer.numbers(result, cells));
  return result;
}

std::vector<float> values_of(const Dump& dump, const TensorPair& tensor,
                             std::span<const CellPlace> places) {
  Side side(dump, tensor, places);
  const auto values = side.values(side.bytes(0, places.size()));
  return {values.begin(), values.end()};
}

}  // namespace kvtool
