#include "store/bytes.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::store {

void append(ByteVector& out, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t at = out.size();
  out.resize(at + bytes.size());
  std::memcpy(out.data() + at, bytes.data(), bytes.size());
}

void ByteReader::require(bool good, std::string_view problem) const {
  if (!good) throw Error(ErrorKind::damaged, fmt::format("{}: {}", what_, problem));
}

std::span<const std::byte> ByteReader::take_bytes(std::uint64_t size) {
  require(size <= bytes_.size(), "breaks off");
  const auto taken = bytes_.first(static_cast<std::size_t>(size));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

std::uint32_t ByteReader::take_count(std::size_t least) {
  const auto count = take<std::uint32_t>();
  require(count <= bytes_.size() / least, "a count is larger than what follows");
  return count;
}

}  // namespace kvtool::store
