#include "kvtool/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "tensor/kernels.h"
#include "tensor/reference.h"
#include "tensor/unknown_values.h"

namespace kvtool {
namespace {

// Whole rows of one width, each with its header.
bool are_rows(const ElementTypeInfo& t, std::size_t bytes, std::size_t elements) {
  const std::size_t blocks = elements / t.block_elements * t.block_bytes;
  if (bytes == 0 && elements == 0) return true;
  if (bytes <= blocks || (bytes - blocks) % t.row_header_bytes != 0) return false;
  const std::size_t rows = (bytes - blocks) / t.row_header_bytes;
  return elements % (rows * t.block_elements) == 0;
}

bool belong_together(const ElementTypeInfo& t, std::size_t bytes, std::size_t elements) {
  if (t.row_header_bytes > 0) return are_rows(t, bytes, elements);
  return bytes % t.block_bytes == 0 && elements == bytes / t.block_bytes * t.block_elements;
}

// The caller's mistake, if it is one.
void require_sizes(ElementType type, std::size_t bytes, std::size_t elements) {
  const ElementTypeInfo& t = info(type);
  if (!belong_together(t, bytes, elements))
    throw std::logic_error(fmt::format("{} bytes of {} are not {} elements", bytes, t.name,
                                       elements));
}

// The file's: a row that has no place in the type.
void require_whole_blocks(ElementType type, std::size_t elements) {
  static_cast<void>(row_bytes(type, elements));
}

std::size_t elements_in(ElementType type, std::size_t bytes) {
  const ElementTypeInfo& t = info(type);
  return bytes / t.block_bytes * t.block_elements;
}

void copy_bytes(std::span<const std::byte> in, std::span<std::byte> out) {
  if (in.size() != out.size())
    throw std::logic_error(fmt::format("{} bytes do not become {}", in.size(), out.size()));
  std::copy(in.begin(), in.end(), out.begin());
}

void require_blocks_only(ElementType type) {
  if (info(type).row_header_bytes > 0)
    throw std::logic_error(fmt::format("rows of {} are no sequence of blocks", info(type).name));
}

// Floats that lie between two types on their way: few enough to stay in the first cache, and whole
// blocks of every type.
using Passage = std::array<float, 2048>;

void recode_through_floats(ElementType from, std::span<const std::byte> in, ElementType to,
                           std::span<std::byte> out) {
  Passage passage;
  while (!in.empty()) {
    const std::size_t n = std::min(passage.size(), elements_in(from, in.size()));
    const std::size_t in_bytes = row_bytes(from, n);
    const std::size_t out_bytes = row_bytes(to, n);
    const auto floats = std::span(passage).first(n);
    dequantize(from, in.first(in_bytes), floats);
    quantize(to, floats, out.first(out_bytes));
    in = in.subspan(in_bytes);
    out = out.subspan(out_bytes);
  }
}

}  // namespace

bool can_decode(ElementType type) { return reference::decodes(type); }
bool can_encode(ElementType type) { return reference::encoder_of(type) != nullptr; }

std::uint64_t row_bytes(ElementType type, std::uint64_t elements) {
  const ElementTypeInfo& t = info(type);
  if (elements % t.block_elements != 0)
    throw Error(ErrorKind::refused,
                fmt::format("{} stores blocks of {} elements, and {} are no multiple of that",
                            t.name, t.block_elements, elements));
  return checked_add(checked_multiply(elements / t.block_elements, t.block_bytes),
                     t.row_header_bytes);
}

void dequantize(ElementType type, std::span<const std::byte> bytes, std::span<float> floats) {
  require_known_values(type);
  require_sizes(type, bytes.size(), floats.size());
  if (const auto fast = kernels::decoder_of(type))
    return fast(bytes.data(), floats.data(), floats.size());
  reference::decode(type, bytes, floats);
}

void quantize(ElementType type, std::span<const float> floats, std::span<std::byte> bytes) {
  require_known_rounding(type);
  require_whole_blocks(type, floats.size());
  require_sizes(type, bytes.size(), floats.size());
  if (const auto fast = kernels::encoder_of(type))
    return fast(floats.data(), bytes.data(), floats.size());
  reference::encode(type, floats, bytes);
}

void recode(ElementType from, std::span<const std::byte> in, ElementType to,
            std::span<std::byte> out) {
  require_known_values(from);
  if (from == to) return copy_bytes(in, out);
  require_known_rounding(to);
  require_blocks_only(from);
  const std::size_t elements = elements_in(from, in.size());
  require_sizes(from, in.size(), elements);
  require_whole_blocks(to, elements);
  require_sizes(to, out.size(), elements);
  if (const auto fast = kernels::recoder_of(from, to)) {
    fast(in.data(), out.data(), elements);
  } else {
    recode_through_floats(from, in, to, out);
  }
}

std::string_view kernel_set() { return kernels::has_avx2() ? "avx2" : "plain"; }

}  // namespace kvtool
