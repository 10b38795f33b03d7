#include "gguf/scanner.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::gguf {
namespace {

// Arrays of arrays exist in the format; nobody nests them deeper than this.
constexpr int most_nesting = 4;
// The head of an array: element type and count.
constexpr std::uint64_t array_head_bytes = 4 + 8;
constexpr std::uint64_t string_head_bytes = 8;

// The least bytes that an element takes; what makes every loop below end with the file.
std::uint64_t least_size(GgufType type) {
  if (type == GgufType::string) return string_head_bytes;
  return type == GgufType::array ? array_head_bytes : fixed_size(type);
}

void pass_elements(Scanner& in, GgufType element, std::uint64_t count, int nesting);

// Takes the head of an array and gives its element type and count.
GgufValue array_head(Scanner& in) {
  GgufValue value;
  value.type = GgufType::array;
  value.element = in.type("element_type");
  value.count = in.count("element_count", least_size(value.element));
  return value;
}

void pass_element(Scanner& in, GgufType type, int nesting) {
  if (type == GgufType::string) return in.skip("string", in.count("string_length", 1));
  const GgufValue inner = array_head(in);
  pass_elements(in, inner.element, inner.count, nesting + 1);
}

void pass_elements(Scanner& in, GgufType element, std::uint64_t count, int nesting) {
  if (nesting > most_nesting)
    fail(in.offset(), "array", fmt::format("nested more than {} deep", most_nesting));
  if (fixed_size(element) > 0) return in.skip("elements", count * fixed_size(element));
  for (std::uint64_t i = 0; i < count; ++i) pass_element(in, element, nesting);
}

}  // namespace

void fail(std::uint64_t offset, const char* field, const std::string& what) {
  throw Error(ErrorKind::damaged, Place{offset, field}, what);
}

void Scanner::need(const char* field, std::uint64_t bytes) const {
  if (bytes > remaining())
    fail(offset(), field, fmt::format("{} bytes expected, {} remain", bytes, remaining()));
}

void Scanner::take(const char* field, std::span<std::byte> bytes) {
  need(field, bytes.size());
  static_cast<void>(cursor_.take(bytes));
}

void Scanner::skip(const char* field, std::uint64_t bytes) {
  need(field, bytes);
  static_cast<void>(cursor_.skip(bytes));
}

std::uint64_t Scanner::count(const char* field, std::uint64_t least_bytes) {
  const std::uint64_t begin = offset();
  const auto count = word<std::uint64_t>(field);
  if (count > remaining() / least_bytes)
    fail(begin, field,
         fmt::format("{} of at least {} bytes each, {} bytes remain", count, least_bytes,
                     remaining()));
  return count;
}

std::string Scanner::text(const char* field) {
  std::string text(static_cast<std::size_t>(count(field, 1)), '\0');
  take(field, std::as_writable_bytes(std::span(text)));
  return text;
}

GgufType Scanner::type(const char* field) {
  const std::uint64_t begin = offset();
  const auto number = word<std::uint32_t>(field);
  if (number > static_cast<std::uint32_t>(GgufType::f64))
    fail(begin, field, fmt::format("type {} does not exist", number));
  return static_cast<GgufType>(number);
}

std::uint64_t fixed_size(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    case GgufType::string:
    case GgufType::array: break;
  }
  return 0;
}

GgufValue pass_value(Scanner& in, GgufType type) {
  GgufValue value;
  if (type == GgufType::array) value = array_head(in);
  if (type != GgufType::array) value.type = value.element = type;
  value.extent.offset = in.offset();
  pass_elements(in, value.element, value.count, 1);
  value.extent.size = in.offset() - value.extent.offset;
  return value;
}

}  // namespace kvtool::gguf
