// The typed getters of Gguf: each goes to where a value lies and reads it.
#include <limits>
#include <utility>

#include "gguf/scanner.h"
#include "kvtool/error.h"
#include "kvtool/gguf.h"

namespace kvtool {
namespace {

using gguf::Scanner;

// An integer of any of the format's types: a sign and a size.
struct Integer {
  bool negative = false;
  std::uint64_t bits = 0;  // two's complement
};

template <class T>
Integer integer(Scanner& in) {
  const T value = in.word<T>("value");
  return {std::cmp_less(value, 0), static_cast<std::uint64_t>(value)};
}

std::optional<Integer> integer(Scanner& in, GgufType type) {
  switch (type) {
    case GgufType::u8: return integer<std::uint8_t>(in);
    case GgufType::i8: return integer<std::int8_t>(in);
    case GgufType::u16: return integer<std::uint16_t>(in);
    case GgufType::i16: return integer<std::int16_t>(in);
    case GgufType::u32: return integer<std::uint32_t>(in);
    case GgufType::i32: return integer<std::int32_t>(in);
    case GgufType::u64: return integer<std::uint64_t>(in);
    case GgufType::i64: return integer<std::int64_t>(in);
    default: return std::nullopt;
  }
}

// Calls read(scanner, value) at the value of `key`, if it is there.
template <class F>
auto at_value(const Gguf& model, std::string_view key, F&& read)
    -> decltype(read(std::declval<Scanner&>(), std::declval<const GgufValue&>())) {
  const auto found = model.values().find(key);
  if (found == model.values().end()) return std::nullopt;
  format::Window window(model.source());
  Scanner in(format::Cursor(window, found->second.extent));
  try {
    return read(in, found->second);
  } catch (const Error& error) {
    throw error.in_file(model.source().name());
  }
}

bool is_array_of(const GgufValue& value, GgufType element) {
  return value.type == GgufType::array && value.element == element;
}

// All elements at once; their count was checked against the file when it was opened.
template <class T>
std::vector<T> elements(Scanner& in, const GgufValue& value) {
  std::vector<T> out(static_cast<std::size_t>(value.count));
  in.take("elements", std::as_writable_bytes(std::span(out)));
  return out;
}

bool all_fit(const std::vector<std::int32_t>& values, GgufType type) {
  if (type == GgufType::i32) return true;
  for (const std::int32_t value : values)
    if (value < 0) return false;  // the bits of a u32 past the largest i32
  return true;
}

}  // namespace

std::optional<std::uint64_t> Gguf::u64(std::string_view key) const {
  return at_value(*this, key, [](Scanner& in, const GgufValue& value) {
    const auto number = integer(in, value.type);
    return number && !number->negative ? std::optional(number->bits) : std::nullopt;
  });
}

std::optional<std::int64_t> Gguf::i64(std::string_view key) const {
  return at_value(*this, key, [](Scanner& in, const GgufValue& value) {
    const auto number = integer(in, value.type);
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    const bool fits = number && (number->negative || number->bits <= most);
    return fits ? std::optional(static_cast<std::int64_t>(number->bits)) : std::nullopt;
  });
}

std::optional<double> Gguf::f64(std::string_view key) const {
  return at_value(*this, key, [](Scanner& in, const GgufValue& value) -> std::optional<double> {
    if (value.type == GgufType::f32) return in.word<float>("value");
    if (value.type == GgufType::f64) return in.word<double>("value");
    return std::nullopt;
  });
}

std::optional<bool> Gguf::boolean(std::string_view key) const {
  return at_value(*this, key, [](Scanner& in, const GgufValue& value) -> std::optional<bool> {
    if (value.type != GgufType::boolean) return std::nullopt;
    return in.word<std::uint8_t>("value") != 0;
  });
}

std::optional<std::string> Gguf::string(std::string_view key) const {
  return at_value(*this, key,
                  [](Scanner& in, const GgufValue& value) -> std::optional<std::string> {
                    if (value.type != GgufType::string) return std::nullopt;
                    return in.text("string");
                  });
}

std::optional<GgufStrings> Gguf::strings(std::string_view key) const {
  return at_value(*this, key,
                  [](Scanner& in, const GgufValue& value) -> std::optional<GgufStrings> {
                    if (!is_array_of(value, GgufType::string)) return std::nullopt;
                    GgufStrings out;
                    out.reserve(static_cast<std::size_t>(value.count),
                                static_cast<std::size_t>(value.extent.size - value.count * 8));
                    for (std::uint64_t i = 0; i < value.count; ++i) out.append(in.text("string"));
                    return out;
                  });
}

std::optional<std::vector<float>> Gguf::f32s(std::string_view key) const {
  return at_value(*this, key,
                  [](Scanner& in, const GgufValue& value) -> std::optional<std::vector<float>> {
                    if (!is_array_of(value, GgufType::f32)) return std::nullopt;
                    return elements<float>(in, value);
                  });
}

std::optional<std::vector<std::int32_t>> Gguf::i32s(std::string_view key) const {
  using Values = std::vector<std::int32_t>;
  return at_value(*this, key, [](Scanner& in, const GgufValue& value) -> std::optional<Values> {
    if (!is_array_of(value, GgufType::i32) && !is_array_of(value, GgufType::u32))
      return std::nullopt;
    Values out = elements<std::int32_t>(in, value);
    return all_fit(out, value.element) ? std::optional(std::move(out)) : std::nullopt;
  });
}

}  // namespace kvtool
