// The cells of one stream: position, sequences and optional extension of each, held compactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvtool {

using Position = std::int32_t;    // place of a token in its sequence
using SequenceId = std::int32_t;  // number of a conversation inside a context
using TokenId = std::int32_t;     // index into the model's vocabulary; -1: no text token

// What a dump stores beyond position and sequences, by model and date (format/modern: M-RoPE
// models since March 2026, with the token since version 10 / 3).
enum class CellExtension {
  none,         // 0 bytes
  xy,           // 8 bytes: x, y
  xy_token,     // 12 bytes: x, y, token
};

// The extension of one cell; all zero where a dump has none.
struct CellExtra {
  std::int32_t x = 0;  // column inside an image; the position for text
  std::int32_t y = 0;  // row inside an image; the position for text
  TokenId token = -1;
  bool operator==(const CellExtra&) const = default;
};

// A growing table, about as large in memory as on disk (a cell is 8 bytes, 4 for each sequence id,
// 12 for an extension), so that a hostile count cannot cost more memory than the file has bytes.
class CellTable {
 public:
  explicit CellTable(CellExtension extension = CellExtension::none) : extension_(extension) {}

  [[nodiscard]] std::size_t size() const { return positions_.size(); }
  [[nodiscard]] bool empty() const { return positions_.empty(); }
  [[nodiscard]] CellExtension extension() const { return extension_; }

  [[nodiscard]] Position position(std::size_t cell) const { return positions_[cell]; }
  // The ids as stored. Empty in sequence files of dialects that leave the id out.
  [[nodiscard]] std::span<const SequenceId> sequences(std::size_t cell) const;
  [[nodiscard]] CellExtra extra(std::size_t cell) const;

  void reserve(std::size_t cells);
  void append(Position position, std::span<const SequenceId> sequences,
              const CellExtra& extra = {});
  // Appends cells that are known to exist but were not read: position -1, no ids.
  void append_unread(std::size_t cells);
  // Appends cell `cell` of another table (or of this one).
  void append_from(const CellTable& other, std::size_t cell);

  bool operator==(const CellTable&) const = default;

 private:
  CellExtension extension_;
  std::vector<Position> positions_;
  std::vector<std::uint32_t> sequences_end_;  // end of each cell's ids in ids_
  std::vector<SequenceId> ids_;
  std::vector<CellExtra> extras_;  // empty without an extension
};

}  // namespace kvtool
