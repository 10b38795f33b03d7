#include "format/walker.h"

#include <fmt/format.h>

#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool::format {

std::uint32_t Walker::count(const char* field, std::uint64_t current, std::uint64_t /*least_bytes*/,
                            std::uint64_t most) {
  if (current > most)
    throw Error(ErrorKind::refused,
                fmt::format("{}{}: the layout holds at most {}, the output would have {}",
                            Scope::path(scope_), field, most, current));
  const auto value = static_cast<std::uint32_t>(current);
  word(field, value);
  return value;
}

std::uint32_t Walker::count_near_one(const char* field, std::uint64_t current,
                                     std::uint64_t least_bytes, std::uint32_t /*least*/,
                                     std::uint32_t most) {
  return count(field, current, least_bytes, most);
}

void Walker::text(const char* field, const std::string& value) {
  count(field, value.size(), 1);
  visitor_.field(scope_, field, std::as_bytes(std::span(value)));
}

void Walker::words(const char* count_field, const char* field,
                   const std::vector<std::int32_t>& values) {
  count(count_field, values.size(), sizeof(std::int32_t));
  visitor_.field(scope_, field, std::as_bytes(std::span(values)));
}

void Walker::floats(const char* count_field, const char* field, const Extent& extent) {
  u64(count_field, extent.size / sizeof(float));
  opaque(field, extent, extent.size);
}

void Walker::opaque(const char* field, const Extent& extent, std::uint64_t /*size*/) {
  visitor_.opaque(scope_, field, extent);
}

void Walker::tensor(const char* field, const Stream& stream, const Layer& layer,
                    TensorOfLayer part) {
  visitor_.tensor(scope_, field, stream, static_cast<std::size_t>(&layer - stream.layers.data()),
                  part);
}

void SizeVisitor::field(const Scope*, const char*, std::span<const std::byte> bytes) {
  size_ = checked_add(size_, bytes.size());
}

void SizeVisitor::opaque(const Scope*, const char*, const Extent& extent) {
  size_ = checked_add(size_, extent.size);
}

void SizeVisitor::tensor(const Scope*, const char*, const Stream& stream, std::size_t layer,
                         TensorOfLayer part) {
  const std::uint64_t cell = (stream.layers[layer].*part).cell_bytes();
  size_ = checked_add(size_, checked_multiply(stream.cells.size(), cell));
}

}  // namespace kvtool::format
