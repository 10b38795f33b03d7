#include "format/byte_cursor.h"

#include <fmt/format.h>

#include <cstring>

namespace kvtool::format {

std::span<const std::byte> ByteCursor::bytes(const char* field, std::uint64_t size) {
  if (ok() && size > remaining())
    fail(offset(), field, fmt::format("{} bytes expected, {} remain", size, remaining()));
  if (!ok()) return {};
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
  at_ += taken.size();
  return taken;
}

template <class T>
T ByteCursor::word(const char* field) {
  T value{};
  const auto taken = bytes(field, sizeof value);
  if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
  return value;
}

std::uint8_t ByteCursor::u8(const char* field) { return word<std::uint8_t>(field); }
std::uint32_t ByteCursor::u32(const char* field) { return word<std::uint32_t>(field); }
std::uint64_t ByteCursor::u64(const char* field) { return word<std::uint64_t>(field); }
std::int32_t ByteCursor::i32(const char* field) { return word<std::int32_t>(field); }

std::uint64_t ByteCursor::count32(const char* field, std::uint64_t least_bytes) {
  const std::uint64_t begin = offset();
  return checked(begin, field, u32(field), least_bytes);
}

std::uint64_t ByteCursor::count64(const char* field, std::uint64_t least_bytes) {
  const std::uint64_t begin = offset();
  return checked(begin, field, u64(field), least_bytes);
}

std::uint64_t ByteCursor::checked(std::uint64_t begin, const char* field, std::uint64_t count,
                                  std::uint64_t least_bytes) {
  if (count > remaining() / least_bytes)
    fail(begin, field,
         fmt::format("{} of at least {} bytes each, {} bytes remain", count, least_bytes,
                     remaining()));
  return ok() ? count : 0;
}

ByteCursor ByteCursor::inner(const char* field, std::uint64_t size) {
  const std::uint64_t begin = offset();
  return ByteCursor(bytes(field, size), begin);
}

void ByteCursor::fail(std::uint64_t begin, const char* field, const std::string& what) {
  if (ok()) problem_ = fmt::format("byte {:#x} of the token area: {}: {}", begin, field, what);
}

void ByteCursor::adopt(const ByteCursor& other) {
  if (ok()) problem_ = other.problem_;
}

}  // namespace kvtool::format
