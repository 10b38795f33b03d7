#include "tensor/quick_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kvtool/codec.h"
#include "tensor/avx2.h"
#include "tensor/kernels.h"
#include "tensor/reference.h"

namespace kvtool {
namespace {

constexpr std::size_t float_lanes = 16;
constexpr std::size_t lanes = 8;
constexpr std::size_t piece = 256;  // pairs that are added up as floats

// A sum of squares from here on has lost nothing that counts to squares below the least float.
constexpr double least_sum = 1e-20;

// One of the three sums.
struct Sum {
  std::array<float, float_lanes> floats{};
  std::array<double, lanes> doubles{};

  void add(std::size_t i, float number) {
    const float square = number * number;
    floats[i % float_lanes] += square;
  }
  void end_piece() {
    for (std::size_t i = 0; i < lanes; ++i) {
      const float both = floats[i] + floats[i + lanes];
      doubles[i] += static_cast<double>(both);
    }
    floats = {};
  }
  [[nodiscard]] double total() const {
    double sum = 0;
    for (const double lane : doubles) sum += lane;
    return sum;
  }
};

// `decode` makes a float of what is stored as a Stored.
template <class Stored>
float number_at(std::span<const std::byte> bytes, std::size_t i, float (*decode)(Stored)) {
  Stored stored{};
  std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
  return decode(stored);
}

template <class Stored>
PairSums sums_of(std::span<const std::byte> a, std::span<const std::byte> b,
                 float (*decode)(Stored)) {
  Sum difference2, a2, b2;
  float most = 0;
  const std::size_t elements = a.size() / sizeof(Stored);
  for (std::size_t i = 0; i < elements; ++i) {
    const float x = number_at(a, i, decode);
    const float y = number_at(b, i, decode);
    const float difference = std::fabs(x - y);
    difference2.add(i, difference);
    a2.add(i, x);
    b2.add(i, y);
    if (difference > most) most = difference;
    if ((i + 1) % piece == 0 || i + 1 == elements)
      for (Sum* sum : {&difference2, &a2, &b2}) sum->end_piece();
  }
  return {difference2.total(), a2.total(), b2.total(), static_cast<double>(most), false};
}

bool has_room(double sum) { return std::isfinite(sum) && sum >= least_sum; }

// True if rounding to a float cannot have moved `difference` across the limit.
bool clear_of(double difference, double limit) {
  return limit == 0 || std::fabs(difference - limit) > 1e-6 * limit;
}

}  // namespace

PairSums reference::quick_sums_f16(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of(a, b, float_of_half);
}

PairSums reference::quick_sums_bf16(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of(a, b, float_of_bfloat);
}

PairSums reference::quick_sums_q8_0(std::span<const std::byte> a, std::span<const std::byte> b) {
  const ElementTypeInfo& t = info(ElementType::q8_0);
  std::vector<float> x(a.size() / t.block_bytes * t.block_elements);
  std::vector<float> y(x.size());
  decode(ElementType::q8_0, a, x);
  decode(ElementType::q8_0, b, y);
  return quick_sums_f32(std::as_bytes(std::span(x)), std::as_bytes(std::span(y)));
}

PairSums reference::quick_sums_f32(std::span<const std::byte> a, std::span<const std::byte> b) {
  return sums_of<float>(a, b, [](float number) { return number; });
}

kernels::QuickSums kernels::quick_sums_of(ElementType type) {
#if KVTOOL_HAS_AVX2_CODE
  if (has_avx2()) switch (type) {
      case ElementType::f16: return avx2::quick_sums_f16;
      case ElementType::bf16: return avx2::quick_sums_bf16;
      case ElementType::q8_0: return avx2::quick_sums_q8_0;
      case ElementType::f32: return avx2::quick_sums_f32;
      default: return nullptr;
    }
#endif
  switch (type) {
    case ElementType::f16: return reference::quick_sums_f16;
    case ElementType::bf16: return reference::quick_sums_bf16;
    case ElementType::q8_0: return reference::quick_sums_q8_0;
    case ElementType::f32: return reference::quick_sums_f32;
    default: return nullptr;
  }
}

std::optional<PairSums> quick_sums(ElementType type, std::span<const std::byte> a,
                                   std::span<const std::byte> b, const Tolerance& tolerance) {
  const auto sums_of_rows = kernels::quick_sums_of(type);
  if (sums_of_rows == nullptr || tolerance.relative != 0) return std::nullopt;
  PairSums sums = sums_of_rows(a, b);
  if (!has_room(sums.a2) || !has_room(sums.b2)) return std::nullopt;
  if (sums.max_abs > 0 && !has_room(sums.difference2)) return std::nullopt;
  if (!clear_of(sums.max_abs, tolerance.absolute)) return std::nullopt;
  sums.over = sums.max_abs > tolerance.absolute;
  return sums;
}

}  // namespace kvtool
