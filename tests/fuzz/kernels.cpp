// Fast kernels give the bits of their references, whatever the numbers.
//
// Input: a byte that chooses the kernel, one that chooses among its variants, and numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "fuzz/target.h"
#include "kvtool/codec.h"
#include "kvtool/tensor.h"
#include "tensor/hadamard.h"
#include "tensor/pair_sums.h"
#include "tensor/quick_sums.h"
#include "tensor/reference.h"
#include "tensor/transpose.h"

namespace kvtool::fuzz {
namespace {

using ByteVector = std::vector<std::byte>;

constexpr std::array types = {ElementType::f32,  ElementType::f16,  ElementType::bf16,
                              ElementType::q8_0, ElementType::q4_0, ElementType::q4_1,
                              ElementType::q5_0, ElementType::q5_1, ElementType::iq4_nl};

std::vector<float> floats_of(std::span<const std::byte> bytes, std::size_t multiple) {
  std::vector<float> floats(bytes.size() / sizeof(float) / multiple * multiple);
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

// Which bits a NaN has depends on the order of operands, and nothing depends on them.
bool same(float a, float b) {
  return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

void decode(unsigned variant, std::span<const std::byte> bytes) {
  const ElementTypeInfo& type = info(types[variant % types.size()]);
  const std::size_t blocks = bytes.size() / type.block_bytes;
  const auto whole = bytes.first(blocks * type.block_bytes);
  std::vector<float> fast(blocks * type.block_elements);
  std::vector<float> plain(fast.size());
  dequantize(type.type, whole, fast);
  reference::decode(type.type, whole, plain);
  require(same_bits(fast, plain), "decoding differs");
}

void encode(unsigned variant, std::span<const std::byte> bytes) {
  const ElementTypeInfo& type = info(types[variant % types.size()]);
  const auto floats = floats_of(bytes, type.block_elements);
  ByteVector fast(floats.size() / type.block_elements * type.block_bytes);
  ByteVector plain(fast.size());
  quantize(type.type, floats, fast);
  reference::encode(type.type, floats, plain);
  require(fast == plain, "encoding differs");
}

void turn(unsigned variant, std::span<const std::byte> bytes) {
  const std::uint32_t block = 1U << (variant % 9);
  auto fast = floats_of(bytes, block);
  auto plain = fast;
  rotate(fast, block);
  reference::rotate(plain, block);
  require(same_bits(fast, plain), "rotation differs");
}

void exchange(unsigned variant, std::span<const std::byte> bytes) {
  const std::size_t element = std::size_t{1} << (variant % 3);
  const std::size_t rows = 1 + variant / 3 % 80;
  const std::size_t columns = bytes.size() / element / rows;
  const Panel panel{rows, columns, element, columns * element, rows * element};
  ByteVector fast(rows * columns * element);
  ByteVector plain(fast.size());
  transpose(panel, bytes.first(fast.size()), fast);
  reference::transpose(panel, bytes.first(fast.size()), plain);
  require(fast == plain, "transposition differs");
}

void sum(unsigned variant, std::span<const std::byte> bytes) {
  const auto floats = floats_of(bytes, 2);
  const std::span<const float> a = std::span(floats).first(floats.size() / 2);
  const std::span<const float> b = std::span(floats).last(floats.size() / 2);
  const Tolerance tolerance{static_cast<double>(variant % 4), static_cast<double>(variant / 4 % 4)};
  const PairSums fast = kernels::pair_sums()(a, b, tolerance);
  const PairSums plain = reference::pair_sums(a, b, tolerance);
  const bool finite = std::isfinite(plain.a2) && std::isfinite(plain.b2);
  require(finite == (std::isfinite(fast.a2) && std::isfinite(fast.b2)), "only one sum is finite");
  if (!finite) return;  // the others have no meaning then
  require(fast.difference2 == plain.difference2 && fast.a2 == plain.a2 && fast.b2 == plain.b2 &&
              fast.max_abs == plain.max_abs && fast.over == plain.over,
          "sums differ");
}

void sum_quickly(unsigned variant, std::span<const std::byte> bytes) {
  constexpr std::array forms = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                ElementType::q8_0};
  constexpr std::array plain_sums = {reference::quick_sums_f16, reference::quick_sums_bf16,
                                     reference::quick_sums_f32, reference::quick_sums_q8_0};
  const std::size_t form = variant % forms.size();
  const std::size_t block = info(forms[form]).block_bytes;
  const std::size_t half = bytes.size() / 2 / block * block;
  const PairSums fast = kernels::quick_sums_of(forms[form])(bytes.first(half), bytes.last(half));
  const PairSums plain = plain_sums[form](bytes.first(half), bytes.last(half));
  const bool finite = std::isfinite(plain.a2) && std::isfinite(plain.b2);
  require(finite == (std::isfinite(fast.a2) && std::isfinite(fast.b2)), "only one sum is finite");
  if (!finite) return;  // the others have no meaning then
  require(fast.difference2 == plain.difference2 && fast.a2 == plain.a2 && fast.b2 == plain.b2 &&
              fast.max_abs == plain.max_abs,
          "quick sums differ");
}

constexpr std::array kernels_under_test = {decode, encode, turn, exchange, sum, sum_quickly};

}  // namespace

void try_input(std::span<const std::byte> input) {
  Choices choices(input);
  const auto kernel = kernels_under_test[choices.byte() % kernels_under_test.size()];
  const unsigned variant = choices.byte();
  kernel(variant, choices.rest());
}

}  // namespace kvtool::fuzz
