// Numbers in a row of bytes, little-endian: what blocks and recipes are written and read with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kvtool::store {

using ByteVector = std::vector<std::byte>;

// Appends a number of fixed size.
template <class T>
requires std::is_trivially_copyable_v<T>
void append(ByteVector& out, const T& value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

void append(ByteVector& out, std::span<const std::byte> bytes);

// Takes numbers from bytes that are all there; what is not there is damage, named `what`.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string_view what)
      : bytes_(bytes), what_(what) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T take() {
    T value;
    const auto bytes = take_bytes(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(std::uint64_t size);
  // A count of things of at least `least` bytes each that follow.
  std::uint32_t take_count(std::size_t least);
  [[nodiscard]] std::size_t remaining() const { return bytes_.size(); }
  // Throws Error(damaged) unless `good`.
  void require(bool good, std::string_view problem) const;
  void require_end() const { require(bytes_.empty(), "bytes behind its end"); }

 private:
  std::span<const std::byte> bytes_;
  std::string_view what_;
};

// A list: a count and so many items, which `each` appends or takes. `least`: bytes of an item.
template <class T, class Each>
void append_list(ByteVector& out, const std::vector<T>& list, Each each) {
  append(out, static_cast<std::uint32_t>(list.size()));
  for (const T& item : list) each(item);
}
template <class T, class Each>
std::vector<T> take_list(ByteReader& in, std::size_t least, Each each) {
  std::vector<T> list;
  for (std::uint32_t n = in.take_count(least); n > 0; --n) list.push_back(each());
  return list;
}

}  // namespace kvtool::store
