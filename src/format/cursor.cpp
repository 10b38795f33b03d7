#include "format/cursor.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kvtool::format {

static_assert(std::endian::native == std::endian::little,
              "dumps are little-endian and are read and written as they lie in memory");

void Window::read(std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() >= block_bytes_) return fetch(offset, out);
  while (!out.empty()) {
    if (offset < begin_ || offset - begin_ >= filled_) load(offset);
    const std::size_t skip = static_cast<std::size_t>(offset - begin_);
    const std::size_t size = std::min(out.size(), filled_ - skip);
    std::memcpy(out.data(), block_.get() + skip, size);
    out = out.subspan(size);
    offset += size;
  }
}

void Window::require_readable() const {
  if (failure_) throw Error(*failure_);
}

void Window::fetch(std::uint64_t offset, std::span<std::byte> out) {
  require_readable();
  try {
    source_.read_at(offset, out);
  } catch (const Error& error) {
    failure_ = error;
    throw;
  }
}

void Window::load(std::uint64_t offset) {
  const std::uint64_t size = std::min<std::uint64_t>(block_bytes_, source_.look_ahead(offset));
  filled_ = 0;
  fetch(offset, std::span(block_.get(), static_cast<std::size_t>(size)));
  begin_ = offset;
  filled_ = static_cast<std::size_t>(size);
}

bool Cursor::take(std::uint32_t& value) {
  return take(std::as_writable_bytes(std::span(&value, 1)));
}

bool Cursor::take(std::uint64_t& value) {
  return take(std::as_writable_bytes(std::span(&value, 1)));
}

bool Cursor::take(std::span<std::byte> bytes) {
  if (bytes.size() > remaining()) return false;
  window_->read(at_, bytes);
  at_ += bytes.size();
  return true;
}

bool Cursor::skip(std::uint64_t size) {
  if (size > remaining()) return false;
  at_ += size;
  return true;
}

}  // namespace kvtool::format
