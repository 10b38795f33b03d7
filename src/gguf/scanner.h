// Reads the fields of a model file front to back; every take is checked against what remains.
#pragma once

#include <cstdint>
#include <string>

#include "format/cursor.h"
#include "kvtool/gguf.h"

namespace kvtool::gguf {

class Scanner {
 public:
  explicit Scanner(format::Cursor cursor) : cursor_(cursor) {}

  [[nodiscard]] std::uint64_t offset() const { return cursor_.offset(); }
  [[nodiscard]] std::uint64_t remaining() const { return cursor_.remaining(); }

  // All throw Error(damaged) naming `field` when the bytes are not there.
  template <class T>
  T word(const char* field) {
    T value{};
    take(field, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  // A u64 count of things of at least `least_bytes` each.
  std::uint64_t count(const char* field, std::uint64_t least_bytes);
  // A u64 length and that many bytes.
  std::string text(const char* field);
  void skip(const char* field, std::uint64_t bytes);
  void take(const char* field, std::span<std::byte> bytes);
  // A type number that the format has.
  GgufType type(const char* field);

 private:
  void need(const char* field, std::uint64_t bytes) const;

  format::Cursor cursor_;
};

[[noreturn]] void fail(std::uint64_t offset, const char* field, const std::string& what);

// Bytes of one value of a type of fixed size; 0 for strings and arrays.
[[nodiscard]] std::uint64_t fixed_size(GgufType type);

// Moves over a value and says where it lies.
[[nodiscard]] GgufValue pass_value(Scanner& in, GgufType type);

}  // namespace kvtool::gguf
