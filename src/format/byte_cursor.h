// A checked position in bytes that are held in memory, for content that must not throw.
//
// The first thing that goes wrong is kept as a sentence and stops the reading: from then on every
// take gives zero or nothing. So a decoder reads straight on and looks at ok() where it matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kvtool::format {

class ByteCursor {
 public:
  // `base`: offset of the first byte in whatever the messages count from.
  explicit ByteCursor(std::span<const std::byte> bytes, std::uint64_t base = 0)
      : bytes_(bytes), base_(base) {}

  [[nodiscard]] std::uint64_t offset() const { return base_ + at_; }
  [[nodiscard]] std::uint64_t remaining() const { return ok() ? bytes_.size() - at_ : 0; }
  [[nodiscard]] bool ok() const { return problem_.empty(); }
  // What went wrong first; empty as long as nothing did.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // The next little-endian word; 0 when it is not there.
  std::uint8_t u8(const char* field);
  std::uint32_t u32(const char* field);
  std::uint64_t u64(const char* field);
  std::int32_t i32(const char* field);
  // A count of things of at least `least_bytes` each, checked against what remains; else 0.
  std::uint64_t count32(const char* field, std::uint64_t least_bytes);
  std::uint64_t count64(const char* field, std::uint64_t least_bytes);
  // The next `size` bytes, or none.
  std::span<const std::byte> bytes(const char* field, std::uint64_t size);
  // The same as a cursor of their own.
  ByteCursor inner(const char* field, std::uint64_t size);

  // Notes a problem with the field at `offset`, unless there was one before.
  void fail(std::uint64_t offset, const char* field, const std::string& what);
  // Notes the problem of an inner cursor.
  void adopt(const ByteCursor& other);

 private:
  template <class T>
  T word(const char* field);
  std::uint64_t checked(std::uint64_t offset, const char* field, std::uint64_t count,
                        std::uint64_t least_bytes);

  std::span<const std::byte> bytes_;
  std::uint64_t base_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace kvtool::format
