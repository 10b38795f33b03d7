#include "convert/header_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "kvtool/error.h"

namespace kvtool::convert_steps {
namespace {

using format::HeaderField;
using format::HeaderFieldKind;
using format::HeaderLayout;

const HeaderField* field_called(const HeaderLayout& layout, const std::string& name) {
  for (const HeaderField& field : layout.fields)
    if (field.name == name) return &field;
  return nullptr;
}

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, size);
  return word;
}

bool is_byte(const HeaderField& field) {
  return field.kind == HeaderFieldKind::boolean || field.kind == HeaderFieldKind::bits;
}

// Settings of the context became properties of the model with these structs.
bool changed_meaning(const std::string& name, const HeaderLayout& a, const HeaderLayout& b) {
  const bool rope = name == "rope_freq_base" || name == "rope_freq_scale";
  const HeaderStruct first = rope ? HeaderStruct::s52 : HeaderStruct::g48;
  const bool moved = rope || name == "rms_eps";
  return moved && (a.id < first) != (b.id < first);
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t comma = text.find(',', at);
    parts.push_back(text.substr(at, comma == std::string_view::npos ? comma : comma - at));
    if (comma == std::string_view::npos) return parts;
    at = comma + 1;
  }
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

template <class Number>
std::optional<std::uint32_t> bits_in(std::string_view text) {
  static_assert(sizeof(Number) == sizeof(std::uint32_t));
  const auto number = number_in<Number>(text);
  if (!number) return std::nullopt;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &*number, sizeof bits);
  return bits;
}

std::optional<std::uint32_t> word_in(const HeaderField& field, std::string_view text) {
  switch (field.kind) {
    case HeaderFieldKind::real: return bits_in<float>(text);
    case HeaderFieldKind::signed_number: return bits_in<std::int32_t>(text);
    case HeaderFieldKind::number: return bits_in<std::uint32_t>(text);
    default: break;
  }
  if (text == "false" || text == "true") return text == "true" ? 1 : 0;
  const auto word = bits_in<std::uint32_t>(text);
  const std::uint32_t most = field.kind == HeaderFieldKind::boolean ? 1 : 15;
  return word && *word <= most ? word : std::nullopt;
}

const char* expected_in(const HeaderField& field) {
  switch (field.kind) {
    case HeaderFieldKind::real: return "a real number";
    case HeaderFieldKind::signed_number: return "a whole number";
    case HeaderFieldKind::boolean: return "0 or 1";
    case HeaderFieldKind::bits: return "0 to 15";
    default: return field.count > 1 ? "a number, or one for each layer" : "a number";
  }
}

std::string spelled_word(const HeaderField& field, std::uint32_t word) {
  if (field.kind == HeaderFieldKind::signed_number)
    return std::to_string(static_cast<std::int32_t>(word));
  if (field.kind != HeaderFieldKind::real) return std::to_string(word);
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return fmt::format("{}", value);
}

}  // namespace

std::optional<FieldValue> value_in_header(const HeaderLayout& from,
                                          std::span<const std::byte> bytes,
                                          const HeaderLayout& layout, const HeaderField& field) {
  const HeaderField* same = field_called(from, field.name);
  if (same == nullptr || changed_meaning(field.name, from, layout)) return std::nullopt;
  FieldValue value{{}, {}, true};
  if (is_byte(*same)) {
    value.words = {word_at(bytes, same->offset, 1)};
    return value;
  }
  const std::uint32_t layers = word_at(bytes, field_called(from, "n_layer")->offset, 4);
  const std::uint32_t n = same->count == 1 ? 1 : std::min(layers, same->count);
  for (std::uint32_t i = 0; i < n; ++i)
    value.words.push_back(word_at(bytes, same->offset + std::size_t{4} * i, 4));
  const bool one = std::ranges::all_of(value.words, [&](auto w) { return w == value.words[0]; });
  if (field.count == 1 && (value.words.empty() || !one)) return std::nullopt;
  if (field.count == 1) value.words.resize(1);
  return value;
}

FieldValue value_in_text(const HeaderField& field, const std::string& text) {
  FieldValue value{{}, fmt::format("--set {}={}", field.name, text), true};
  const std::vector<std::string_view> parts = parts_of(text);
  for (const std::string_view part : parts) {
    const auto word = word_in(field, part);
    if (!word || parts.size() > field.count)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: expected {}", value.said_by, expected_in(field)));
    value.words.push_back(*word);
  }
  return value;
}

std::string spelled(const HeaderField& field, const FieldValue& value) {
  std::string text;
  for (const std::uint32_t word : value.words)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", spelled_word(field, word));
  return text;
}

}  // namespace kvtool::convert_steps
