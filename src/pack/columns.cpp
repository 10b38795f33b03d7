// Bytes of scattered columns are expensive to move one by one. Some rows at a time are turned, so that
// each column is one run of bytes; the runs are put in order, and turned back.
#include "pack/columns.h"

#include <algorithm>
#include <cstring>

#include "kvtool/tensor.h"

namespace kvtool::packing {
namespace {

// Rows turned at once: 64 make a run of one line of the cache. Wide rows get fewer, for less room.
std::size_t rows_at_once(std::size_t columns) {
  constexpr std::size_t room = 64U << 10U;
  return std::clamp<std::size_t>(room / columns, 16, 64);
}

// Calls f(index of its first column, number of columns) for each group.
template <class F>
void for_each_group(const Columns& columns, F&& f) {
  std::size_t begin = 0;
  for (const std::uint16_t end : columns.ends) {
    f(begin, end - begin);
    begin = end;
  }
}

// Calls f(first row, number of rows) until all are done.
template <class F>
void for_each_step(const Columns& columns, std::size_t bytes, ColumnScratch& scratch, F&& f) {
  const std::size_t width = columns.order.size();
  const std::size_t rows = bytes / width;
  const std::size_t step = rows_at_once(width);
  scratch.turned.resize(width * step);
  scratch.ordered.resize(width * step);
  for (std::size_t first = 0; first < rows; first += step) f(first, std::min(step, rows - first));
}

// The transposition of `rows` rows of `columns` bytes each.
Panel dense(std::size_t rows, std::size_t columns) { return {rows, columns, 1, columns, rows}; }

}  // namespace

void gather(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out,
            ColumnScratch& scratch) {
  const std::size_t width = columns.order.size();
  const std::size_t rows = in.size() / width;
  for_each_step(columns, in.size(), scratch, [&](std::size_t first, std::size_t n) {
    transpose(dense(n, width), in.subspan(first * width, n * width), scratch.turned);
    for (std::size_t i = 0; i < width; ++i)
      std::memcpy(&scratch.ordered[i * n], &scratch.turned[columns.order[i] * n], n);
    for_each_group(columns, [&](std::size_t begin, std::size_t count) {
      transpose(dense(count, n), std::span(scratch.ordered).subspan(begin * n, count * n),
                out.subspan(begin * rows + first * count, count * n));
    });
  });
}

void scatter(const Columns& columns, std::span<const std::byte> in, std::span<std::byte> out,
             ColumnScratch& scratch) {
  const std::size_t width = columns.order.size();
  const std::size_t rows = in.size() / width;
  for_each_step(columns, in.size(), scratch, [&](std::size_t first, std::size_t n) {
    for_each_group(columns, [&](std::size_t begin, std::size_t count) {
      transpose(dense(n, count), in.subspan(begin * rows + first * count, count * n),
                std::span(scratch.ordered).subspan(begin * n, count * n));
    });
    for (std::size_t i = 0; i < width; ++i)
      std::memcpy(&scratch.turned[columns.order[i] * n], &scratch.ordered[i * n], n);
    transpose(dense(width, n), scratch.turned, out.subspan(first * width, n * width));
  });
}

void reference::gather(const Columns& columns, std::span<const std::byte> in,
                       std::span<std::byte> out) {
  const std::size_t width = columns.order.size();
  std::size_t at = 0;
  for_each_group(columns, [&](std::size_t begin, std::size_t count) {
    for (std::size_t row = 0; row < in.size(); row += width)
      for (std::size_t i = begin; i < begin + count; ++i) out[at++] = in[row + columns.order[i]];
  });
}

void reference::scatter(const Columns& columns, std::span<const std::byte> in,
                        std::span<std::byte> out) {
  const std::size_t width = columns.order.size();
  std::size_t at = 0;
  for_each_group(columns, [&](std::size_t begin, std::size_t count) {
    for (std::size_t row = 0; row < out.size(); row += width)
      for (std::size_t i = begin; i < begin + count; ++i) out[row + columns.order[i]] = in[at++];
  });
}

}  // namespace kvtool::packing
