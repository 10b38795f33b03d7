#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "kvtool/error.h"
#include "kvtool/tensor.h"
#include "tensor/hadamard.h"

namespace kvtool {
namespace {

void require_blocks(std::size_t numbers, std::uint32_t block) {
  if (!std::has_single_bit(block))
    throw Error(ErrorKind::refused,
                fmt::format("rotation works on blocks of a power of two, and {} is none", block));
  if (numbers % block != 0)
    throw Error(ErrorKind::refused,
                fmt::format("rotation works on blocks of {} numbers, and {} are no multiple of that",
                            block, numbers));
}

void add_squares(std::span<const float> rows, std::vector<double>& sums) {
  for (std::size_t i = 0; i < rows.size(); i += sums.size())
    for (std::size_t channel = 0; channel < sums.size(); ++channel) {
      const double x = rows[i + channel];
      sums[channel] += x * x;
    }
}

// Standard deviation over the channels of log(rms). The number of rows is the same for all and
// falls out. Channels that are zero throughout have no logarithm and are left out.
double spread_of_log_rms(const std::vector<double>& squares) {
  double n = 0;
  double sum = 0;
  double sum_of_squares = 0;
  for (const double s : squares) {
    if (!(s > 0) || std::isinf(s)) continue;
    const double log_rms = std::log(s) / 2;
    ++n;
    sum += log_rms;
    sum_of_squares += log_rms * log_rms;
  }
  if (n == 0) return 0;
  const double mean = sum / n;
  return std::sqrt(std::max(0.0, sum_of_squares / n - mean * mean));
}

}  // namespace

void rotate(std::span<float> numbers, std::uint32_t block) {
  require_blocks(numbers.size(), block);
  const auto fast = kernels::rotation(block);
  (fast != nullptr ? fast : reference::rotate)(numbers, block);
}

std::uint32_t key_rotation_block(std::uint32_t head_size) {
  if (head_size == 0 || head_size % 64 != 0) return 0;
  return 1U << static_cast<unsigned>(std::countr_zero(head_size));
}

std::uint32_t value_rotation_block(std::uint32_t head_size) {
  return head_size == 0 || head_size % 64 != 0 ? 0 : 64;
}

RotationEvidence::RotationEvidence(std::size_t width, std::uint32_t block)
    : block_(block), stored_(width), rotated_(width) {
  require_blocks(width, block);
}

void RotationEvidence::add(std::span<const float> rows) {
  const std::size_t width = stored_.size();
  if (width == 0 || rows.size() % width != 0) throw std::logic_error("evidence of half a row");
  std::vector<float> turned(rows.begin(), rows.end());
  rotate(turned, block_);
  add_squares(rows, stored_);
  add_squares(turned, rotated_);
  rows_ += rows.size() / width;
}

std::optional<double> RotationEvidence::ratio() const {
  const double stored = spread_of_log_rms(stored_);
  const double rotated = spread_of_log_rms(rotated_);
  if (rows_ == 0 || !(stored > 0) || !(rotated > 0)) return std::nullopt;
  return stored / rotated;
}

double combined_ratio(std::span<const double> ratios) {
  if (ratios.empty()) return 1;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  return std::exp(sum / static_cast<double>(ratios.size()));
}

Rotation rotation_of(std::span<const double> ratios, std::uint64_t cells) {
  constexpr std::uint64_t fewest_cells = 32;
  constexpr double clear = 1.07;
  const double ratio = combined_ratio(ratios);
  if (cells < fewest_cells) return Rotation::undecided;
  if (ratio >= clear) return Rotation::plain;
  return ratio <= 1 / clear ? Rotation::rotated : Rotation::undecided;
}

}  // namespace kvtool
