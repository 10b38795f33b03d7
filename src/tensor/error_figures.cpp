#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kvtool/tensor.h"
#include "tensor/error_sums.h"

namespace kvtool {
namespace {

// Numbers whose sums are taken at once, and taken apart where one of them is not finite.
constexpr std::size_t part = 1024;

// NaN for NaN and the same infinity are no loss.
bool stayed(float original, float converted) {
  return original == converted || (std::isnan(original) && std::isnan(converted));
}

}  // namespace

// Adds up a part in which every difference is finite; false, and nothing is added, where one is not.
bool ErrorFigures::add_finite(std::span<const float> original, std::span<const float> converted) {
  const auto fast = kernels::error_sums();
  const ErrorSums sums = fast != nullptr ? fast(original, converted)
                                         : reference::error_sums(original, converted);
  if (!std::isfinite(sums.difference) || !std::isfinite(sums.original)) return false;
  max_abs_ = std::max(max_abs_, sums.max_abs);
  squares_of_difference_ += sums.difference;
  squares_of_original_ += sums.original;
  return true;
}

void ErrorFigures::add_one(float original, float converted) {
  if (add_finite(std::span(&original, 1), std::span(&converted, 1))) return;
  not_finite_ += stayed(original, converted) ? 0 : 1;
}

void ErrorFigures::add(std::span<const float> original, std::span<const float> converted) {
  if (original.size() != converted.size()) throw std::logic_error("errors of different lengths");
  count_ += original.size();
  for (std::size_t i = 0; i < original.size(); i += part) {
    const std::size_t n = std::min(part, original.size() - i);
    if (add_finite(original.subspan(i, n), converted.subspan(i, n))) continue;
    for (std::size_t j = i; j < i + n; ++j) add_one(original[j], converted[j]);
  }
}

void ErrorFigures::add(const ErrorFigures& other) {
  count_ += other.count_;
  not_finite_ += other.not_finite_;
  max_abs_ = std::max(max_abs_, other.max_abs_);
  squares_of_difference_ += other.squares_of_difference_;
  squares_of_original_ += other.squares_of_original_;
}

double ErrorFigures::rms() const {
  return count_ == 0 ? 0 : std::sqrt(squares_of_difference_ / static_cast<double>(count_));
}

double ErrorFigures::relative_l2() const {
  if (squares_of_difference_ == 0) return 0;
  if (squares_of_original_ == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(squares_of_difference_ / squares_of_original_);
}

}  // namespace kvtool
