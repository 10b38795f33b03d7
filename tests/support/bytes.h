// Bytes written by hand, word by word, as they lie in a dump: little-endian, without padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace kvtool::test {

using ByteVector = std::vector<std::byte>;

class Bytes {
 public:
  Bytes& u8(std::size_t value) { return put(static_cast<std::uint8_t>(value)); }
  Bytes& u16(unsigned value) { return put(static_cast<std::uint16_t>(value)); }
  Bytes& u32(std::uint32_t value) { return put(value); }
  Bytes& i32(std::int32_t value) { return put(value); }
  Bytes& u64(std::uint64_t value) { return put(value); }
  Bytes& f32(float value) { return put(value); }
  Bytes& text(std::string_view characters) {
    for (const char c : characters) put(c);
    return *this;
  }
  // `count` bytes that differ from each other, so that a wrong place shows.
  Bytes& filler(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) u8((data_.size() * 31 + 7) & 0xffU);
    return *this;
  }
  Bytes& append(const ByteVector& more) {
    data_.insert(data_.end(), more.begin(), more.end());
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return data_.size(); }
  [[nodiscard]] const ByteVector& get() const { return data_; }

 private:
  template <class T>
  Bytes& put(T value) {
    const std::size_t at = data_.size();
    data_.resize(at + sizeof value);
    std::memcpy(data_.data() + at, &value, sizeof value);
    return *this;
  }

  ByteVector data_;
};

// Overwrites the word at `offset`.
template <class T>
void poke(ByteVector& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// The word at `offset`.
template <class T>
T peek(const ByteVector& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace kvtool::test
