#include "write/row_turner.h"

#include <fmt/format.h>

#include <algorithm>

#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

constexpr std::size_t batch_numbers = 1U << 16U;  // stays in the processor's cache

void rotate_back(std::span<float> numbers, std::uint32_t block) {
  if (block > 1) rotate(numbers, block);  // it is its own inverse
}

}  // namespace

RowTurner::RowTurner(RowForm from, RowForm to, std::size_t width, const Rope& rope,
                     std::int64_t positions)
    : from_(from), to_(to), width_(width), turn_(rope, positions) {
  if (rope.head == 0 || width % rope.head != 0)
    throw Error(ErrorKind::refused,
                fmt::format("rows of {} numbers are no heads of {}", width, rope.head));
}

void RowTurner::convert(std::span<const std::byte> in, std::span<std::byte> out,
                        ErrorFigures* figures) {
  const auto in_row = static_cast<std::size_t>(row_bytes(from_.type, width_));
  const auto out_row = static_cast<std::size_t>(row_bytes(to_.type, width_));
  const std::size_t rows = in.size() / in_row;
  const std::size_t step = std::max<std::size_t>(1, batch_numbers / width_);
  for (std::size_t first = 0; first < rows; first += step) {
    const std::size_t count = std::min(step, rows - first);
    convert_batch(in.subspan(first * in_row, count * in_row),
                  out.subspan(first * out_row, count * out_row), figures);
  }
}

void RowTurner::convert_batch(std::span<const std::byte> in, std::span<std::byte> out,
                              ErrorFigures* figures) {
  numbers_.resize(in.size() / static_cast<std::size_t>(row_bytes(from_.type, width_)) * width_);
  dequantize(from_.type, in, numbers_);
  rotate_back(numbers_, from_.rotation);
  turn_.apply(numbers_);
  if (to_.rotation > 1) rotate(numbers_, to_.rotation);
  quantize(to_.type, numbers_, out);
  if (figures == nullptr) return;
  result_.resize(numbers_.size());
  dequantize(to_.type, out, result_);
  figures->add(numbers_, result_);
}

}  // namespace kvtool
