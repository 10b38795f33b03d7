// Rows become columns in three steps: blocks that read whole cache lines and write runs of several,
// tiles of one register by one register inside a block, and a scratch block in between. Without
// scratch, rows whose length is a power of two all fall into the same few places of the cache.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kvtool/checked.h"
#include "kvtool/tensor.h"
#include "tensor/transpose.h"

namespace kvtool {
namespace {

constexpr std::size_t block_rows = 128;
constexpr std::size_t line_bytes = 64;  // of a row of a block: one line of the cache

// Sixteen bytes as one value; GCC and Clang turn what is done to it into the processor's own
// instructions, on every processor.
template <class T>
struct Register;
template <>
struct Register<std::uint8_t> {
  using Type = std::uint8_t __attribute__((vector_size(16)));
};
template <>
struct Register<std::uint16_t> {
  using Type = std::uint16_t __attribute__((vector_size(16)));
};
template <>
struct Register<std::uint32_t> {
  using Type = std::uint32_t __attribute__((vector_size(16)));
};

// a0 b0 a1 b1 ... of the lower halves, or of the upper ones.
template <bool upper, class V, std::size_t... i>
V interleave(V a, V b, std::index_sequence<i...>) {
  constexpr std::size_t lanes = sizeof...(i);
  return __builtin_shufflevector(a, b, static_cast<int>(i / 2 + (upper ? lanes / 2 : 0) +
                                                        (i % 2 == 0 ? 0 : lanes))...);
}

// Interleaving row i with row i + lanes / 2 moves the top bit of the row number to the bottom of
// the column number; after as many rounds as there are bits, rows and columns have changed places.
template <class T>
void transpose_tile(const std::byte* in, std::size_t in_stride, std::byte* out,
                    std::size_t out_stride) {
  using V = typename Register<T>::Type;
  constexpr std::size_t lanes = sizeof(V) / sizeof(T);
  constexpr auto each = std::make_index_sequence<lanes>();
  std::array<V, lanes> rows;
  for (std::size_t i = 0; i < lanes; ++i) std::memcpy(&rows[i], in + i * in_stride, sizeof(V));
  for (std::size_t round = 1; round < lanes; round *= 2) {
    const std::array<V, lanes> before = rows;
    for (std::size_t i = 0; i < lanes / 2; ++i) {
      rows[2 * i] = interleave<false>(before[i], before[i + lanes / 2], each);
      rows[2 * i + 1] = interleave<true>(before[i], before[i + lanes / 2], each);
    }
  }
  for (std::size_t i = 0; i < lanes; ++i) std::memcpy(out + i * out_stride, &rows[i], sizeof(V));
}

template <class T>
void transpose_elements(const Panel& panel, const std::byte* in, std::byte* out) {
  for (std::size_t column = 0; column < panel.columns; ++column)
    for (std::size_t row = 0; row < panel.rows; ++row)
      std::memcpy(out + column * panel.out_stride + row * sizeof(T),
                  in + row * panel.in_stride + column * sizeof(T), sizeof(T));
}

// The part of a panel from (row, column) on, at most `rows` by `columns`.
Panel part_of(const Panel& panel, std::size_t row, std::size_t column, std::size_t rows,
              std::size_t columns) {
  Panel part = panel;
  part.rows = std::min(rows, panel.rows - row);
  part.columns = std::min(columns, panel.columns - column);
  return part;
}

// Tiles as far as they reach; single elements to the right of them and below.
template <class T>
void transpose_tiles(const Panel& panel, const std::byte* in, std::byte* out) {
  constexpr std::size_t tile = 16 / sizeof(T);
  const std::size_t rows = panel.rows / tile * tile;
  const std::size_t columns = panel.columns / tile * tile;
  for (std::size_t row = 0; row < rows; row += tile)
    for (std::size_t column = 0; column < columns; column += tile)
      transpose_tile<T>(in + row * panel.in_stride + column * sizeof(T), panel.in_stride,
                        out + column * panel.out_stride + row * sizeof(T), panel.out_stride);
  transpose_elements<T>(part_of(panel, 0, columns, rows, panel.columns),
                        in + columns * sizeof(T), out + columns * panel.out_stride);
  transpose_elements<T>(part_of(panel, rows, 0, panel.rows, panel.columns),
                        in + rows * panel.in_stride, out + rows * sizeof(T));
}

template <class T>
void transpose_block(const Panel& block, const std::byte* in, std::byte* out) {
  alignas(64) std::array<std::byte, block_rows * line_bytes> scratch;
  Panel into_scratch = block;
  into_scratch.out_stride = block_rows * sizeof(T);
  transpose_tiles<T>(into_scratch, in, scratch.data());
  for (std::size_t i = 0; i < block.columns; ++i)
    std::memcpy(out + i * block.out_stride, scratch.data() + i * into_scratch.out_stride,
                block.rows * sizeof(T));
}

template <class T>
void transpose_blocks(const Panel& panel, const std::byte* in, std::byte* out) {
  constexpr std::size_t block_columns = line_bytes / sizeof(T);
  for (std::size_t row = 0; row < panel.rows; row += block_rows)
    for (std::size_t column = 0; column < panel.columns; column += block_columns)
      transpose_block<T>(part_of(panel, row, column, block_rows, block_columns),
                         in + row * panel.in_stride + column * sizeof(T),
                         out + column * panel.out_stride + row * sizeof(T));
}

// Bytes from the first element to the last of `rows` rows of `row` bytes.
std::uint64_t extent(std::size_t rows, std::size_t stride, std::size_t row) {
  return checked_add(checked_multiply(rows - 1, stride), row);
}

void require_panel(const Panel& panel, std::size_t in_size, std::size_t out_size) {
  if (panel.element_bytes != 1 && panel.element_bytes != 2 && panel.element_bytes != 4)
    throw std::logic_error(fmt::format("transposition of {} bytes", panel.element_bytes));
  const std::uint64_t in_row = checked_multiply(panel.columns, panel.element_bytes);
  const std::uint64_t out_row = checked_multiply(panel.rows, panel.element_bytes);
  if (panel.in_stride < in_row || panel.out_stride < out_row ||
      extent(panel.rows, panel.in_stride, in_row) > in_size ||
      extent(panel.columns, panel.out_stride, out_row) > out_size)
    throw std::logic_error(fmt::format("{} and {} bytes do not hold a panel of {} x {} x {}",
                                       in_size, out_size, panel.rows, panel.columns,
                                       panel.element_bytes));
}

}  // namespace

void transpose(const Panel& panel, std::span<const std::byte> in, std::span<std::byte> out) {
  if (panel.rows == 0 || panel.columns == 0) return;
  require_panel(panel, in.size(), out.size());
  switch (panel.element_bytes) {
    case 1: return transpose_blocks<std::uint8_t>(panel, in.data(), out.data());
    case 2: return transpose_blocks<std::uint16_t>(panel, in.data(), out.data());
    default: return transpose_blocks<std::uint32_t>(panel, in.data(), out.data());
  }
}

namespace reference {

void transpose(const Panel& panel, std::span<const std::byte> in, std::span<std::byte> out) {
  if (panel.rows == 0 || panel.columns == 0) return;
  require_panel(panel, in.size(), out.size());
  switch (panel.element_bytes) {
    case 1: return transpose_elements<std::uint8_t>(panel, in.data(), out.data());
    case 2: return transpose_elements<std::uint16_t>(panel, in.data(), out.data());
    default: return transpose_elements<std::uint32_t>(panel, in.data(), out.data());
  }
}

}  // namespace reference
}  // namespace kvtool
