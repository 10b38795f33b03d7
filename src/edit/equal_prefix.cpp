#include "edit/equal_prefix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kvtool/codec.h"
#include "write/row_reader.h"

namespace kvtool {
namespace {

constexpr std::uint64_t panel_bytes = 1U << 20U;

// --- rows ---

// One side of the pairs, as runs of cells.
std::vector<TensorRun> runs_of(const TensorSource& from, const std::vector<CellIndices>& pairs,
                               std::size_t count, bool second) {
  std::vector<TensorRun> runs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t cell = second ? pairs[i].second : pairs[i].first;
    if (!runs.empty() && runs.back().first + runs.back().count == cell)
      ++runs.back().count;
    else
      runs.push_back({from, cell, 1});
  }
  return runs;
}

std::vector<std::byte> rows(RowReader& reader, std::uint64_t first, std::uint64_t count,
                            std::uint64_t row) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * row));
  reader.read(first, count, [&](const Tensor&, std::uint64_t at, auto piece) {
    std::ranges::copy(piece, bytes.begin() + static_cast<std::ptrdiff_t>((at - first) * row));
  });
  return bytes;
}

class RowComparison {
 public:
  RowComparison(const Tensor& tensor, double tolerance)
      : tensor_(tensor), tolerance_(tolerance),
        numbers_(static_cast<std::size_t>(tensor.cell_elements())) {
    others_.resize(numbers_.size());
  }

  bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return true;
    if (tolerance_ <= 0) return false;
    dequantize(tensor_.type, a, numbers_);
    dequantize(tensor_.type, b, others_);
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (!is_within(tolerance_, numbers_[i], others_[i])) return false;
    return true;
  }

 private:
  const Tensor& tensor_;
  double tolerance_;
  std::vector<float> numbers_;
  std::vector<float> others_;
};

// Calls take(i, a, b) with the rows of the first `count` pairs, until it says false.
template <class Take>
void for_each_pair(const TensorSource& from, const std::vector<CellIndices>& pairs,
                   std::size_t count, const Take& take) {
  const std::uint64_t row = from.tensor->cell_bytes();
  const std::vector<TensorRun> runs_a = runs_of(from, pairs, count, false);
  const std::vector<TensorRun> runs_b = runs_of(from, pairs, count, true);
  RowReader a{std::span(runs_a)};
  RowReader b{std::span(runs_b)};
  const std::uint64_t step = std::max<std::uint64_t>(1, panel_bytes / row);
  for (std::uint64_t first = 0; first < count; first += step) {
    const std::uint64_t n = std::min<std::uint64_t>(step, count - first);
    const auto x = rows(a, first, n, row);
    const auto y = rows(b, first, n, row);
    const auto size = static_cast<std::size_t>(row);
    for (std::size_t i = 0; i < n; ++i)
      if (!take(static_cast<std::size_t>(first) + i, std::span(x).subspan(i * size, size),
                std::span(y).subspan(i * size, size)))
        return;
  }
}

std::size_t equal_rows(const TensorSource& from, const std::vector<CellIndices>& pairs,
                       std::size_t count, double tolerance) {
  RowComparison comparison(*from.tensor, tolerance);
  std::size_t equal = count;
  for_each_pair(from, pairs, count, [&](std::size_t i, auto a, auto b) {
    if (comparison.equal(a, b)) return true;
    equal = i;
    return false;
  });
  return equal;
}

void mark_unequal_rows(const TensorSource& from, const std::vector<CellIndices>& pairs,
                       std::vector<bool>& unequal) {
  for_each_pair(from, pairs, pairs.size(), [&](std::size_t i, auto a, auto b) {
    if (std::memcmp(a.data(), b.data(), a.size()) != 0) unequal[i] = true;
    return true;
  });
}

// --- columns ---

// A few whole channels of a transposed tensor: one element of every cell each. Wherever the cells
// of the pairs lie, they are read in one go.
class ChannelComparison {
 public:
  ChannelComparison(const TensorSource& from, double tolerance)
      : tensor_(*from.tensor),
        cells_(static_cast<std::size_t>(from.cells)),
        tolerance_(tolerance) {}

  // Of the first `count` pairs, those that are equal in all of the channels.
  std::size_t equal(std::span<const std::byte> channels, const std::vector<CellIndices>& pairs,
                    std::size_t count) {
    const std::size_t elements = channels.size() / tensor_.element_bytes;
    numbers_.resize(tolerance_ > 0 ? elements : 0);
    if (tolerance_ > 0) dequantize(tensor_.type, channels, numbers_);
    for (std::size_t begin = 0; begin < elements; begin += cells_)
      for (std::size_t i = 0; i < count; ++i)
        if (!equal(channels, begin + pairs[i].first, begin + pairs[i].second)) count = i;
    return count;
  }

  void mark_unequal(std::span<const std::byte> channels, const std::vector<CellIndices>& pairs,
                    std::vector<bool>& unequal) const {
    const std::size_t elements = channels.size() / tensor_.element_bytes;
    for (std::size_t begin = 0; begin < elements; begin += cells_)
      for (std::size_t i = 0; i < pairs.size(); ++i)
        if (!equal(channels, begin + pairs[i].first, begin + pairs[i].second)) unequal[i] = true;
  }

 private:
  bool equal(std::span<const std::byte> channels, std::size_t a, std::size_t b) const {
    const std::size_t size = tensor_.element_bytes;
    if (std::memcmp(&channels[a * size], &channels[b * size], size) == 0) return true;
    return tolerance_ > 0 && is_within(tolerance_, numbers_[a], numbers_[b]);
  }

  const Tensor& tensor_;
  std::size_t cells_;
  double tolerance_;
  std::vector<float> numbers_;
};

// Calls take(channels) with a few whole channels after the other, until it says false.
template <class Take>
void for_each_channels(const TensorSource& from, const Take& take) {
  const Tensor& tensor = *from.tensor;
  const std::uint64_t channel = from.cells * tensor.element_bytes;
  const std::uint64_t step = std::max<std::uint64_t>(1, panel_bytes / channel);
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < tensor.width; first += step) {
    const std::uint64_t n = std::min<std::uint64_t>(step, tensor.width - first);
    bytes.resize(static_cast<std::size_t>(n * channel));
    from.source->read_at(tensor.extent.offset + first * channel, bytes);
    if (!take(std::span<const std::byte>(bytes))) return;
  }
}

std::size_t equal_columns(const TensorSource& from, const std::vector<CellIndices>& pairs,
                          std::size_t count, double tolerance) {
  ChannelComparison comparison(from, tolerance);
  for_each_channels(from, [&](auto channels) {
    count = comparison.equal(channels, pairs, count);
    return count > 0;
  });
  return count;
}

void mark_unequal_columns(const TensorSource& from, const std::vector<CellIndices>& pairs,
                          std::vector<bool>& unequal) {
  const ChannelComparison comparison(from, 0);
  for_each_channels(from, [&](auto channels) {
    comparison.mark_unequal(channels, pairs, unequal);
    return true;
  });
}

// Of the first `count` pairs, those that are equal in one tensor.
std::size_t equal_in(const TensorSource& from, const std::vector<CellIndices>& pairs,
                     std::size_t count, double tolerance) {
  if (count == 0 || from.tensor->cell_bytes() == 0) return count;
  return from.tensor->orientation == Orientation::transposed
             ? equal_columns(from, pairs, count, tolerance)
             : equal_rows(from, pairs, count, tolerance);
}

void mark_unequal(const TensorSource& from, const std::vector<CellIndices>& pairs,
                  std::vector<bool>& unequal) {
  if (from.tensor->cell_bytes() == 0) return;
  if (from.tensor->orientation == Orientation::transposed)
    mark_unequal_columns(from, pairs, unequal);
  else
    mark_unequal_rows(from, pairs, unequal);
}

}  // namespace

bool is_within(double tolerance, float a, float b) { return std::abs(double{a} - b) <= tolerance; }

std::size_t equal_prefix(const Source& source, const Stream& stream,
                         const std::vector<CellIndices>& pairs, double tolerance) {
  std::size_t count = pairs.size();
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      count = equal_in({&source, tensor, stream.cells.size()}, pairs, count, tolerance);
  return count;
}

std::vector<CellIndices> unequal_pairs(const Source& source, const Stream& stream,
                                       const std::vector<CellIndices>& pairs) {
  std::vector<bool> unequal(pairs.size(), false);
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      if (!pairs.empty()) mark_unequal({&source, tensor, stream.cells.size()}, pairs, unequal);
  std::vector<CellIndices> list;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (unequal[i]) list.push_back(pairs[i]);
  return list;
}

}  // namespace kvtool
