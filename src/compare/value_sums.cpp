#include "compare/value_sums.h"

#include <algorithm>
#include <cmath>

#include "tensor/quick_sums.h"

namespace kvtool {
namespace {

// NaN for NaN and the same infinity are no difference.
bool alike(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// One pair after the other, for rows with values that are not finite.
Sums one_by_one(std::span<const float> a, std::span<const float> b, const Tolerance& tolerance) {
  Sums sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i]))
      sums.add({reference::pair_sums(a.subspan(i, 1), b.subspan(i, 1), tolerance)});
    else
      ++(alike(a[i], b[i]) ? sums.not_finite_in_both : sums.not_finite);
  }
  return sums;
}

}  // namespace

void Sums::add(const Sums& other) {
  difference2 += other.difference2;
  a2 += other.a2;
  b2 += other.b2;
  max_abs = std::max(max_abs, other.max_abs);
  over = over || other.over;
  values += other.values;
  not_finite += other.not_finite;
  not_finite_in_both += other.not_finite_in_both;
}

Sums compare_values(std::span<const float> a, std::span<const float> b,
                    const Tolerance& tolerance) {
  Sums sums{kernels::pair_sums()(a, b, tolerance)};
  if (!std::isfinite(sums.a2) || !std::isfinite(sums.b2)) sums = one_by_one(a, b, tolerance);
  sums.values = a.size();
  return sums;
}

std::optional<Sums> compare_stored(ElementType type, std::span<const std::byte> a,
                                   std::span<const std::byte> b, const Tolerance& tolerance) {
  const auto quick = quick_sums(type, a, b, tolerance);
  if (!quick) return std::nullopt;
  Sums sums{*quick};
  sums.values = a.size() / info(type).block_bytes * info(type).block_elements;
  return sums;
}

}  // namespace kvtool
