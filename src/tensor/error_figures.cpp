#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kvtool/tensor.h"

namespace kvtool {
namespace {

// NaN for NaN and the same infinity are no loss.
bool stayed(float original, float converted) {
  return original == converted || (std::isnan(original) && std::isnan(converted));
}

}  // namespace

void ErrorFigures::add(std::span<const float> original, std::span<const float> converted) {
  if (original.size() != converted.size()) throw std::logic_error("errors of different lengths");
  count_ += original.size();
  for (std::size_t i = 0; i < original.size(); ++i) {
    const double x = original[i];
    const double difference = double{converted[i]} - x;
    if (!std::isfinite(difference)) {
      not_finite_ += stayed(original[i], converted[i]) ? 0 : 1;
      continue;
    }
    max_abs_ = std::max(max_abs_, std::abs(difference));
    squares_of_difference_ += difference * difference;
    squares_of_original_ += x * x;
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
