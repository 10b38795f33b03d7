#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "kvtool/checked.h"
#include "kvtool/codec.h"
#include "kvtool/error.h"
#include "kvtool/tensor.h"
#include "tensor/unknown_values.h"

namespace kvtool {
namespace {

// Floats of a batch: few enough to stay in the first cache. At least one row.
constexpr std::size_t batch_floats = 2048;

void require_form(const RowForm& form, std::size_t width) {
  require_known_values(form.type);
  if (form.rotation == 0) return;
  if (!std::has_single_bit(form.rotation) || width % form.rotation != 0)
    throw Error(ErrorKind::refused, fmt::format("rows of {} numbers cannot be rotated in blocks of {}",
                                                width, form.rotation));
}

std::size_t bytes_of_row(const RowForm& form, std::size_t width) {
  const std::uint64_t more_headers = std::uint64_t{form.headers} - 1;
  return checked_add(row_bytes(form.type, width),
                     checked_multiply(more_headers, info(form.type).row_header_bytes));
}

bool has_header(ElementType type) { return info(type).row_header_bytes > 0; }

}  // namespace

RowConverter::RowConverter(RowForm from, RowForm to, std::size_t width)
    : from_(from),
      to_(to),
      width_(width),
      in_row_bytes_(bytes_of_row(from, width)),
      out_row_bytes_(bytes_of_row(to, width)) {
  require_form(from, width);
  require_form(to, width);
  if (!is_copy()) require_known_rounding(to.type);
  const std::size_t rows = width == 0 ? 0 : std::max<std::size_t>(1, batch_floats / width);
  numbers_.resize(checked_multiply(rows, width));
}

void RowConverter::convert(std::span<const std::byte> in, std::span<std::byte> out,
                           ErrorFigures* figures) {
  const std::size_t rows = in_row_bytes_ == 0 ? 0 : in.size() / in_row_bytes_;
  if (rows * in_row_bytes_ != in.size() || rows * out_row_bytes_ != out.size())
    throw std::logic_error(fmt::format("{} bytes are not {} rows", out.size(), rows));
  if (recodes() && figures == nullptr) return recode(from_.type, in, to_.type, out);
  const std::size_t batch = numbers_.size() / std::max<std::size_t>(1, width_);
  for (std::size_t row = 0; row < rows; row += batch) {
    const std::size_t n = std::min(batch, rows - row);
    convert_batch(in.subspan(row * in_row_bytes_, n * in_row_bytes_),
                  out.subspan(row * out_row_bytes_, n * out_row_bytes_), figures);
  }
}

bool RowConverter::recodes() const { return is_copy() || (!turns() && !has_header(from_.type)); }

void RowConverter::convert_batch(std::span<const std::byte> in, std::span<std::byte> out,
                                 ErrorFigures* figures) {
  const auto numbers = std::span(numbers_).first(in.size() / in_row_bytes_ * width_);
  dequantize(from_.type, in, numbers);
  if (turns() && from_.rotation != 0) rotate(numbers, from_.rotation);
  if (turns() && to_.rotation != 0) rotate(numbers, to_.rotation);
  quantize(to_.type, numbers, out);
  if (figures == nullptr) return;
  result_.resize(numbers_.size());
  const auto result = std::span(result_).first(numbers.size());
  dequantize(to_.type, out, result);
  figures->add(numbers, result);
}

}  // namespace kvtool
