// A number for the content of each cell of a stream, so that cells can be told apart unread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// Starts with the same number for all cells and takes in tensor after tensor. Cells with the same
// bytes get the same number; with other bytes hardly ever.
class CellDigests {
 public:
  // `mask`: the bits of the numbers that are used; for tests of what happens when few tell apart.
  CellDigests(const Source& source, const Stream& stream, std::uint64_t mask);

  // Reads what the wanted cells hold in a tensor of the stream, in file order. Throws Error(io).
  void add(const Tensor& tensor, const std::vector<bool>& wanted);

  [[nodiscard]] std::uint64_t of(std::uint32_t cell) const { return digests_[cell]; }

 private:
  void add_rows(const Tensor& tensor, const std::vector<bool>& wanted);
  void add_channels(const Tensor& tensor, const std::vector<bool>& wanted);

  const Source& source_;
  std::uint64_t mask_;
  std::vector<std::uint64_t> digests_;
};

// Calls f(cell, row) for the wanted cells of a tensor that lies in rows, in file order, and reads a
// panel of them at a time. Throws Error(io).
void for_each_wanted_row(
    const Source& source, const Tensor& tensor, const std::vector<bool>& wanted,
    const std::function<void(std::size_t cell, std::span<const std::byte> row)>& f);

}  // namespace kvtool
