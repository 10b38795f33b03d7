// What happens to the numbers of a cache between reading and writing: rotation, transposition,
// conversion of rows, and how far the result is off.
//
// Rows: `width` numbers of one cell, head after head. Everything here works on as many rows or
// columns as the caller has at hand, so that a file of any size passes through a few megabytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kvtool/element_type.h"

namespace kvtool {

// --- rotation ---

// Multiplies each run of `block` numbers by the normalized Walsh-Hadamard matrix of that size
// (entries +-1/sqrt(block), natural order): what llama.cpp does to quantized K and V rows before it
// stores them. Lengths and angles are kept, and doing it twice gives the numbers back but for
// rounding. A block of 1 changes nothing. Throws Error(refused) when `block` is no power of two or
// `numbers` no multiple of it.
void rotate(std::span<float> numbers, std::uint32_t block);

// The blocks in which llama.cpp rotates K and V of a model whose heads have `head_size` numbers:
// nothing where the head size is no multiple of 64, else the largest power of two that divides it
// for K, and 64 for V.
[[nodiscard]] std::uint32_t key_rotation_block(std::uint32_t head_size);
[[nodiscard]] std::uint32_t value_rotation_block(std::uint32_t head_size);

// Gathers how much the channels of a K tensor differ in size, as stored and after one more
// rotation. A trained K has large and small channels; rotation smears the differences, and a second
// one brings them back. Evidence, not proof: one family of models was measured.
class RotationEvidence {
 public:
  // `width` numbers a row, a multiple of `block`. Throws Error(refused) when it is not.
  RotationEvidence(std::size_t width, std::uint32_t block);

  // Whole rows, as stored.
  void add(std::span<const float> rows);

  // Rows added so far.
  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  // Spread of log rms over the channels as stored, divided by the spread after one more rotation:
  // above 1 speaks for plain rows, below for rotated ones (trained models: 3.3-4.7 and 0.2-0.3).
  // Nothing without rows, or where one of the spreads is zero.
  [[nodiscard]] std::optional<double> ratio() const;

 private:
  std::uint32_t block_;
  std::uint64_t rows_ = 0;
  std::vector<double> stored_;   // sum of squares of each channel
  std::vector<double> rotated_;  // the same after one more rotation
};

// All layers of a cache together: the geometric mean of their ratios; 1, which says nothing, for
// none.
[[nodiscard]] double combined_ratio(std::span<const double> ratios);

enum class Rotation { plain, rotated, undecided };

// What the combined ratio says. Undecided below 32 cells, where single layers of plain and rotated
// caches were seen to overlap, and between 0.93 and 1.07.
[[nodiscard]] Rotation rotation_of(std::span<const double> ratios, std::uint64_t cells);

// --- transposition ---

// A rectangle of elements inside a larger matrix.
struct Panel {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t element_bytes = 0;  // 1, 2 or 4
  std::size_t in_stride = 0;      // bytes from a row of the input to the next
  std::size_t out_stride = 0;     // bytes from an output row, an input column, to the next
};

// Element (row, column) of `in` goes to (column, row) of `out`; bytes of `out` between its rows are
// left alone. Throws std::logic_error when a span is too short for the panel, a stride shorter than
// its row, or the element size another.
void transpose(const Panel& panel, std::span<const std::byte> in, std::span<std::byte> out);

// --- error figures ---

// How far converted numbers are from the ones they were made of.
class ErrorFigures {
 public:
  void add(std::span<const float> original, std::span<const float> converted);
  void add(const ErrorFigures& other);

  // Numbers compared, including those that are not finite.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // NaN and infinities that did not stay what they were, and numbers that became one. They do not
  // enter the other figures.
  [[nodiscard]] std::uint64_t not_finite() const { return not_finite_; }
  [[nodiscard]] double max_abs() const { return max_abs_; }
  // Root of the mean square of the difference; 0 without numbers.
  [[nodiscard]] double rms() const;
  // Length of the difference over length of the original; 0 when nothing differs, infinite when
  // the original is zero and something does.
  [[nodiscard]] double relative_l2() const;

 private:
  bool add_finite(std::span<const float> original, std::span<const float> converted);
  void add_one(float original, float converted);

  std::uint64_t count_ = 0;
  std::uint64_t not_finite_ = 0;
  double max_abs_ = 0;
  double squares_of_difference_ = 0;
  double squares_of_original_ = 0;
};

// --- conversion of rows ---

// How rows are stored: element type, the block of their rotation (0: not rotated), and for types
// whose rows have a header how many of these a row here has (Tensor::row_headers()).
struct RowForm {
  ElementType type = ElementType::f32;
  std::uint32_t rotation = 0;
  std::uint32_t headers = 1;
  bool operator==(const RowForm&) const = default;
};

// Brings rows from one form into another: decode, turn back, turn, encode. Holds a few rows of
// floats, nothing more.
class RowConverter {
 public:
  // Throws Error(refused) when `width` is no multiple of a type's or rotation's block or a rotation
  // is no power of two, Error(unsupported) for a type that no cache has, and for a target whose
  // rounding is not known (can_encode()).
  RowConverter(RowForm from, RowForm to, std::size_t width);

  [[nodiscard]] std::size_t in_row_bytes() const { return in_row_bytes_; }
  [[nodiscard]] std::size_t out_row_bytes() const { return out_row_bytes_; }
  // True when rows can be copied as they are.
  [[nodiscard]] bool is_copy() const { return from_ == to_; }

  // Whole rows; `out` has as many. `figures`, if given, gathers the error: it is measured in the
  // target's rotation, where lengths are the same as without.
  void convert(std::span<const std::byte> in, std::span<std::byte> out,
               ErrorFigures* figures = nullptr);

 private:
  void convert_batch(std::span<const std::byte> in, std::span<std::byte> out,
                     ErrorFigures* figures);
  [[nodiscard]] bool turns() const { return from_.rotation != to_.rotation; }
  // True when blocks can become blocks without looking at rows.
  [[nodiscard]] bool recodes() const;

  RowForm from_;
  RowForm to_;
  std::size_t width_;
  std::size_t in_row_bytes_;
  std::size_t out_row_bytes_;
  std::vector<float> numbers_;  // a batch of rows on its way
  std::vector<float> result_;   // what its encoded form stands for, when errors are asked for
};

}  // namespace kvtool
