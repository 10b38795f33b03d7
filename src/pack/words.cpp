#include "pack/words.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace kvtool::packing {
namespace {

template <class Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <class Word, class F>
void for_each_word(std::span<std::byte> bytes, F&& f) {
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += sizeof(Word)) {
    const Word word = f(load<Word>(bytes.data() + at), at);
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
}

// Turns every word left by `by` bits.
template <class Word>
void turn(std::span<std::byte> bytes, int by) {
  for_each_word<Word>(bytes, [by](Word word, std::size_t) { return std::rotl(word, by); });
}

// Sign and magnitude as an integer that grows with the number, and back.
template <class Word>
Word ordered(Word bits) {
  constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  return static_cast<Word>((bits & sign) != 0 ? ~bits : bits | sign);
}

template <class Word>
Word from_ordered(Word order) {
  constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  return static_cast<Word>((order & sign) != 0 ? order ^ sign : ~order);
}

// 0, -1, 1, -2, 2 ... as 0, 1, 2, 3, 4 ..., and back.
template <class Word>
Word zigzag(Word difference) {
  const bool negative = difference >> (8 * sizeof(Word) - 1) != 0;
  const auto twice = static_cast<Word>(difference << 1U);
  return static_cast<Word>(negative ? ~twice : twice);
}

template <class Word>
Word from_zigzag(Word code) {
  const auto half = static_cast<Word>(code >> 1U);
  return static_cast<Word>((code & 1U) != 0 ? ~half : half);
}

template <class Word>
void subtract_words(std::span<std::byte> values, std::span<const std::byte> base) {
  for_each_word<Word>(values, [&](Word value, std::size_t at) {
    const Word other = load<Word>(base.data() + at);
    return zigzag(static_cast<Word>(ordered(value) - ordered(other)));
  });
}

template <class Word>
void add_words(std::span<std::byte> values, std::span<const std::byte> base) {
  for_each_word<Word>(values, [&](Word code, std::size_t at) {
    const Word other = ordered(load<Word>(base.data() + at));
    return from_ordered(static_cast<Word>(from_zigzag(code) + other));
  });
}

void subtract_bytes(std::span<std::byte> values, std::span<const std::byte> base) {
  for_each_word<std::uint8_t>(values, [&](std::uint8_t value, std::size_t at) {
    return static_cast<std::uint8_t>(value - std::to_integer<std::uint8_t>(base[at]));
  });
}

void add_bytes(std::span<std::byte> values, std::span<const std::byte> base) {
  for_each_word<std::uint8_t>(values, [&](std::uint8_t value, std::size_t at) {
    return static_cast<std::uint8_t>(value + std::to_integer<std::uint8_t>(base[at]));
  });
}

}  // namespace

void apply_filter(Filter filter, std::span<std::byte> bytes) {
  if (filter == Filter::sign_last_16) turn<std::uint16_t>(bytes, 1);
  if (filter == Filter::sign_last_32) turn<std::uint32_t>(bytes, 1);
}

void undo_filter(Filter filter, std::span<std::byte> bytes) {
  if (filter == Filter::sign_last_16) turn<std::uint16_t>(bytes, -1);
  if (filter == Filter::sign_last_32) turn<std::uint32_t>(bytes, -1);
}

void subtract_base(Difference difference, std::span<std::byte> values,
                   std::span<const std::byte> base) {
  switch (difference) {
    case Difference::bytes: return subtract_bytes(values, base);
    case Difference::words_16: return subtract_words<std::uint16_t>(values, base);
    case Difference::words_32: return subtract_words<std::uint32_t>(values, base);
  }
}

void add_base(Difference difference, std::span<std::byte> values, std::span<const std::byte> base) {
  switch (difference) {
    case Difference::bytes: return add_bytes(values, base);
    case Difference::words_16: return add_words<std::uint16_t>(values, base);
    case Difference::words_32: return add_words<std::uint32_t>(values, base);
  }
}

}  // namespace kvtool::packing
