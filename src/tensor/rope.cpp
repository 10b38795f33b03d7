#include "kvtool/rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kvtool/error.h"

namespace kvtool {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

bool is_positive(double number) { return std::isfinite(number) && number > 0; }

void require_sense(const RopeParameters& p) {
  if (p.dimensions == 0 || p.dimensions % 2 != 0)
    refuse(fmt::format("{} dimensions cannot turn in pairs", p.dimensions));
  if (p.head == 0 || p.offset > p.head || p.dimensions > p.head - p.offset)
    refuse(fmt::format("{} dimensions from {} on do not fit into a head of {}", p.dimensions,
                       p.offset, p.head));
  if (!is_positive(p.base) || p.base == 1) refuse(fmt::format("{} is no base of a rope", p.base));
  if (!is_positive(p.scale)) refuse(fmt::format("{} is no scale of positions", p.scale));
  if (!p.factors.empty() && p.factors.size() != p.dimensions / 2)
    refuse(fmt::format("{} factors for {} pairs", p.factors.size(), p.dimensions / 2));
  for (const float factor : p.factors)
    if (!is_positive(factor)) refuse(fmt::format("{} is no factor of a rope", factor));
  if (p.scaling == RopeScaling::yarn && p.yarn_ext_factor != 0 && p.original_context == 0)
    refuse("YaRN needs the context of the training (--yarn-orig-ctx)");
}

// YaRN: the pair that makes `turns` full turns within the original context.
double pair_with_turns(const RopeParameters& p, double turns) {
  const double context = static_cast<double>(p.original_context);
  return p.dimensions * std::log(context / (turns * 2 * std::numbers::pi)) / (2 * std::log(p.base));
}

// YaRN leaves fast pairs as they were trained, slows slow ones down by the scale, and mixes between.
// How much of the trained angle pair `i` keeps.
double kept_by_yarn(const RopeParameters& p, std::uint32_t i) {
  const double low = std::max(0.0, std::floor(pair_with_turns(p, p.yarn_beta_fast)));
  const double high =
      std::min<double>(p.dimensions - 1, std::ceil(pair_with_turns(p, p.yarn_beta_slow)));
  const double place = (i - low) / std::max(0.001, high - low);
  return (1 - std::clamp(place, 0.0, 1.0)) * p.yarn_ext_factor;
}

double angle_of(const RopeParameters& p, std::uint32_t i) {
  const double factor = p.factors.empty() ? 1 : p.factors[i];
  const double trained = std::pow(p.base, -2.0 * i / p.dimensions) / factor;
  if (p.scaling != RopeScaling::yarn || p.yarn_ext_factor == 0) return trained * p.scale;
  const double kept = kept_by_yarn(p, i);
  return trained * p.scale * (1 - kept) + trained * kept;
}

// M-RoPE: pairs of the fourth section belong to no direction, and text does not turn them.
bool is_still(const RopeParameters& p, std::uint32_t i) {
  const auto& s = p.sections;
  const std::uint32_t all = s[0] + s[1] + s[2] + s[3];
  if (all == 0) return false;
  const std::uint32_t sector = i % all;
  if (!p.interleaved) return sector >= s[0] + s[1] + s[2];
  return sector >= 3 * s[sector % 3];  // time, row, column, time, ...
}

// Calls f(index of the first element, of the second, pair) for a head.
template <class F>
void for_each_pair(RopePairs pairs, std::size_t count, F&& f) {
  for (std::size_t i = 0; i < count; ++i)
    pairs == RopePairs::neighbours ? f(2 * i, 2 * i + 1, i) : f(i, i + count, i);
}

void turn_pair(float& a, float& b, float cos, float sin) {
  const float x = a;
  a = x * cos - b * sin;
  b = x * sin + b * cos;
}

}  // namespace

Rope make_rope(const RopeParameters& parameters) {
  require_sense(parameters);
  Rope rope{parameters.pairs, parameters.head, parameters.offset, {}};
  for (std::uint32_t i = 0; i < parameters.dimensions / 2; ++i)
    rope.angles.push_back(is_still(parameters, i) ? 0 : angle_of(parameters, i));
  return rope;
}

void turn(const Rope& rope, std::int64_t positions, std::span<float> row) {
  for (std::size_t head = 0; head + rope.head <= row.size(); head += rope.head)
    for_each_pair(rope.pairs, rope.angles.size(), [&](std::size_t a, std::size_t b, std::size_t i) {
      const double angle = rope.angles[i] * static_cast<double>(positions);
      turn_pair(row[head + rope.offset + a], row[head + rope.offset + b],
                static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    });
}

RopeTurn::RopeTurn(const Rope& rope, std::int64_t positions)
    : pairs_(rope.pairs), head_(rope.head), offset_(rope.offset) {
  for (const double angle : rope.angles) {
    cos_.push_back(static_cast<float>(std::cos(angle * static_cast<double>(positions))));
    sin_.push_back(static_cast<float>(std::sin(angle * static_cast<double>(positions))));
  }
}

void RopeTurn::apply(std::span<float> rows) const {
  const std::size_t n = cos_.size();
  for (std::size_t head = 0; head + head_ <= rows.size(); head += head_) {
    float* x = rows.data() + head + offset_;
    if (pairs_ == RopePairs::halves)
      for (std::size_t i = 0; i < n; ++i) turn_pair(x[i], x[i + n], cos_[i], sin_[i]);
    else
      for (std::size_t i = 0; i < n; ++i) turn_pair(x[2 * i], x[2 * i + 1], cos_[i], sin_[i]);
  }
}

}  // namespace kvtool
