// The one way to touch input bytes: a position that moves forward and never leaves its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "kvtool/dump.h"
#include "kvtool/error.h"

namespace kvtool::format {

// A source seen through a buffer, shared by all cursors on it, so that copying a cursor (to try
// another layout from the same place) costs nothing.
class Window {
 public:
  // `block_bytes`: how much it reads at once when it has to read.
  explicit Window(const Source& source, std::size_t block_bytes = usual_block_bytes)
      : source_(source), block_bytes_(block_bytes) {}
  // Fills `out` from `offset`; the caller has checked the bounds.
  void read(std::uint64_t offset, std::span<std::byte> out);
  // Throws what the source said if it could once not be read. Whoever tries several layouts asks at
  // the end: a layout that was left for that reason may be the right one. Until then every read
  // throws the same.
  void require_readable() const;
  [[nodiscard]] std::uint64_t size() const { return source_.size(); }

 private:
  void load(std::uint64_t offset);
  void fetch(std::uint64_t offset, std::span<std::byte> out);

  static constexpr std::size_t usual_block_bytes = 1U << 14U;
  const Source& source_;
  std::size_t block_bytes_;
  std::uint64_t begin_ = 0;
  std::size_t filled_ = 0;
  std::optional<Error> failure_;
  std::unique_ptr<std::byte[]> block_ = std::make_unique<std::byte[]>(block_bytes_);
};

class Cursor {
 public:
  Cursor(Window& window, Extent bounds)
      : window_(&window), at_(bounds.offset), end_(bounds.end()) {}

  [[nodiscard]] Window& window() const { return *window_; }
  [[nodiscard]] std::uint64_t offset() const { return at_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t remaining() const { return end_ - at_; }

  // The next little-endian word, or false (and no move) when fewer bytes remain.
  [[nodiscard]] bool take(std::uint32_t& value);
  [[nodiscard]] bool take(std::uint64_t& value);
  [[nodiscard]] bool take(std::span<std::byte> bytes);
  // Moves over `size` bytes without reading them, or false when fewer remain.
  [[nodiscard]] bool skip(std::uint64_t size);

 private:
  Window* window_;
  std::uint64_t at_;
  std::uint64_t end_;
};

}  // namespace kvtool::format
