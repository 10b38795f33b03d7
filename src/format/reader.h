// Reads a layout: the Io that fills a Dump from bytes and checks every field on the way.
//
// The descriptions in this folder are templates over an Io. With a Reader they assign to the nodes
// of a mutable Dump; with a Walker (walker.h) they present the nodes of a const one. Every function
// here throws Error(damaged) with offset, field, what was expected and what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cursor.h"
#include "format/part.h"
#include "format/scope.h"
#include "kvtool/dump.h"
#include "kvtool/error.h"

namespace kvtool::format {

// Which values a reader takes for fields that loaders do not check either.
enum class Strictness {
  plausible,   // what real programs write
  structural,  // also negative positions and repeated ids, so that damage can be shown
  forgiving,   // also one impossible value of a word that moves no byte: see Reader::complaint()
};

// Longest list of token ids, and of cells of a stream, that is taken: several times the longest
// context there is, and a bound to the memory that a lying count can claim.
inline constexpr std::uint32_t most_tokens = 1U << 25U;
inline constexpr std::uint32_t most_cells = 1U << 25U;
// llama.cpp's sequence ids are less than this.
inline constexpr std::int32_t most_sequences = 256;

class Reader {
 public:
  static constexpr bool reads = true;

  Reader(Cursor cursor, Strictness strictness) : cursor_(cursor), strictness_(strictness) {}
  // A copy continues from the same place on its own, outside all scopes.
  Reader(const Reader& other)
      : cursor_(other.cursor_),
        strictness_(other.strictness_),
        next_stream_(other.next_stream_),
        skims_(other.skims_),
        skims_cells_(other.skims_cells_),
        progress_(other.progress_),
        complaint_(other.complaint_) {}
  Reader& operator=(const Reader&) = delete;

  [[nodiscard]] Cursor& cursor() { return cursor_; }
  [[nodiscard]] std::uint64_t offset() const { return cursor_.offset(); }
  [[nodiscard]] Strictness strictness() const { return strictness_; }
  [[nodiscard]] Scope scope(std::string_view name, std::uint64_t index = Scope::unnumbered) {
    return {scope_, name, index};
  }

  void u32(const char* field, std::uint32_t& value);
  void i32(const char* field, std::int32_t& value);
  void u64(const char* field, std::uint64_t& value);
  // A word that can only have one value.
  void constant(const char* field, std::uint32_t expected);
  // A word that is 0 or 1.
  void flag(const char* field, std::uint32_t& value);
  // The number of things that follow, each at least `least_bytes` long. `current` is for writing.
  std::uint32_t count(const char* field, std::uint64_t current, std::uint64_t least_bytes,
                      std::uint64_t most = 0xffffffff);
  void position(const char* field, Position& value);
  void sequence_id(const char* field, SequenceId& value);
  // The ids that a cell lists, just read and ending here: ascending, and below most_sequences.
  void sequence_ids(std::span<const SequenceId> ids) const;
  // A count of which one is by far the commonest value, within what else `count` demands.
  std::uint32_t count_near_one(const char* field, std::uint64_t current, std::uint64_t least_bytes,
                               std::uint32_t least, std::uint32_t most);
  // An i32 that names an element type.
  void type(const char* field, ElementType& type);
  // The same in files of ik_llama.cpp, which has more types and -1 for no tensor.
  void type_or_none(const char* field, std::optional<ElementType>& type);
  // A u64 row size: whole blocks of the type.
  void row_size(const char* field, std::uint64_t& bytes, ElementType type);
  // Width of a Hadamard rotation: 0 or a power of two.
  void rotation(const char* field, std::uint32_t& width);
  // A length and that many printable characters.
  void text(const char* field, std::string& value);
  // A count and that many words.
  void words(const char* count_field, const char* field, std::vector<std::int32_t>& values);
  // Bytes that are read, not left where they are.
  void bytes(const char* field, std::vector<std::byte>& value, std::uint64_t size);
  // A 64-bit count and that many f32, left where they are.
  void floats(const char* count_field, const char* field, Extent& extent);
  // Bytes that stay where they are; only their place is noted.
  void opaque(const char* field, Extent& extent, std::uint64_t size);
  // The payload of one tensor of one layer: cells x bytes of a cell.
  void tensor(const char* field, const Stream& stream, Layer& layer, TensorOfLayer part);
  // A reader of the same file that sees only `bounds`.
  [[nodiscard]] Reader inside(const Extent& bounds) const;
  // Goes on where a copy of this reader has got to.
  void take_over(const Reader& ahead);
  [[nodiscard]] std::uint32_t next_stream() const { return next_stream_; }
  void set_next_stream(std::uint32_t ordinal) { next_stream_ = ordinal; }
  // Takes the next `count` cells of a position and `ids` (0 or 1) sequence ids in large pieces, which
  // is much faster than field by field. Stops at the first that is not as it should be, for the
  // caller to say what is wrong with it; returns how many it took.
  [[nodiscard]] std::uint32_t take_plain_cells(CellTable& cells, std::uint32_t count,
                                               std::uint32_t ids);
  // Skimming, see OpenOptions::skim: what can be passed over by arithmetic is not looked at.
  [[nodiscard]] bool skims() const { return skims_; }
  void set_skims(bool skims) { skims_ = skims; }
  // Whether skimming also passes over cells: not where their positions are wanted.
  [[nodiscard]] bool skims_cells() const { return skims_ && skims_cells_; }
  void set_skims_cells(bool skims) { skims_cells_ = skims; }
  // Passes over `count` cells of `cell_bytes` each.
  void skip_cells(CellTable& cells, std::uint32_t count, std::uint64_t cell_bytes);
  // Skimming, the header and data of the first of a stream's layers are read, beginning at `begin`.
  // If the last layer has the same header where equal layers put it, all get their places and
  // the reader stands behind them.
  [[nodiscard]] bool take_equal_layers(Stream& stream, TensorOfLayer part, std::uint64_t begin);
  // Tells a stream its number.
  void begin_stream(Stream& stream) { stream.ordinal = next_stream_++; }

  // Notes that cells or a tensor have been read whole: a measure of how far a layout came.
  void completed() { ++progress_; }
  [[nodiscard]] std::uint64_t progress() const { return progress_; }
  // What a forgiving reader let pass.
  [[nodiscard]] const std::optional<Error>& complaint() const { return complaint_; }

  // Throws unless `fine`: the field just read, at `offset`, holds something impossible.
  void require(bool fine, std::uint64_t offset, const char* field, const std::string& detail) const;
  [[noreturn]] void fail(std::uint64_t offset, const char* field, const std::string& detail) const;

 private:
  void need(const char* field, std::uint64_t bytes) const;
  // Throws, unless this reader is forgiving and has not forgiven yet.
  void refuse_or_forgive(const Error& error);
  void complain(std::uint64_t offset, const char* field, const std::string& detail);
  [[nodiscard]] Window& window() const { return cursor_.window(); }

  Cursor cursor_;
  Strictness strictness_;
  std::uint32_t next_stream_ = 0;
  bool skims_ = false;
  bool skims_cells_ = true;
  std::uint64_t progress_ = 0;
  std::optional<Error> complaint_;
  const Scope* scope_ = nullptr;
};

}  // namespace kvtool::format
