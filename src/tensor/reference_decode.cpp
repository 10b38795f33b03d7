#include <cstring>

#include "kvtool/codec.h"
#include "tensor/levels.h"
#include "tensor/reference.h"
#include "tensor/scaled_row.h"

namespace kvtool::reference {
namespace {

constexpr std::size_t block = 32;  // elements of a block in every quantized type here

using Bytes = std::span<const std::byte>;
using Floats = std::span<float>;

template <class T>
T load(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

float half_at(Bytes bytes, std::size_t offset) {
  return float_of_half(load<std::uint16_t>(bytes, offset));
}

// Four bits of 16 packed bytes: the low halves are elements 0 to 15, the high halves 16 to 31.
unsigned nibble(Bytes packed, std::size_t element) {
  const auto byte = std::to_integer<unsigned>(packed[element % 16]);
  return element < 16 ? byte & 0xfU : byte >> 4U;
}

// The fifth bit of an element: bit `element` of a 32-bit word.
unsigned fifth_bit(std::uint32_t high, std::size_t element) {
  return (high >> element & 1U) << 4U;
}

void plain_f32(Bytes in, Floats out) { out[0] = load<float>(in, 0); }
void plain_f16(Bytes in, Floats out) { out[0] = half_at(in, 0); }
void plain_bf16(Bytes in, Floats out) { out[0] = float_of_bfloat(load<std::uint16_t>(in, 0)); }

// f16 scale, 32 signed bytes.
void block_q8_0(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  for (std::size_t i = 0; i < block; ++i)
    out[i] = scale * static_cast<float>(load<std::int8_t>(in, 2 + i));
}

// f16 scale, 32 times four bits, 8 stands for zero.
void block_q4_0(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  for (std::size_t i = 0; i < block; ++i)
    out[i] = scale * (static_cast<float>(nibble(in.subspan(2), i)) - 8.0F);
}

// f16 scale, f16 minimum, 32 times four bits.
void block_q4_1(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  const float least = half_at(in, 2);
  for (std::size_t i = 0; i < block; ++i)
    out[i] = scale * static_cast<float>(nibble(in.subspan(4), i)) + least;
}

// f16 scale, 32 fifth bits, 32 times four bits; 16 stands for zero.
void block_q5_0(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  const auto high = load<std::uint32_t>(in, 2);
  for (std::size_t i = 0; i < block; ++i)
    out[i] = scale * (static_cast<float>(nibble(in.subspan(6), i) | fifth_bit(high, i)) - 16.0F);
}

// f16 scale, f16 minimum, 32 fifth bits, 32 times four bits.
void block_q5_1(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  const float least = half_at(in, 2);
  const auto high = load<std::uint32_t>(in, 4);
  for (std::size_t i = 0; i < block; ++i)
    out[i] = scale * static_cast<float>(nibble(in.subspan(8), i) | fifth_bit(high, i)) + least;
}

// f16 scale, 32 times two high bits, 32 times four bits; 32 stands for zero. Byte i of the high bits
// serves elements i, i + 8 (its upper half), i + 16 and i + 24 (two bits further up in each).
void block_q6_0(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  for (std::size_t i = 0; i < block; ++i) {
    const auto shift = static_cast<unsigned>(i % 16 / 8 * 4 + i / 16 * 2);
    const unsigned high = std::to_integer<unsigned>(in[2 + i % 8]) >> shift & 3U;
    out[i] = scale * (static_cast<float>(nibble(in.subspan(10), i) | high << 4U) - 32.0F);
  }
}

// f16 scale, 32 times the index of one of sixteen unevenly spaced levels.
void block_iq4_nl(Bytes in, Floats out) {
  const float scale = half_at(in, 0);
  for (std::size_t i = 0; i < block; ++i) out[i] = scale * uneven_levels[nibble(in.subspan(2), i)];
}

void row_q8_KV(const ScaledRow& in, Floats out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = in.scale() * static_cast<float>(in.level(i));
}

// A header more for each row is what the bytes have more than their blocks.
void rows_q8_KV(Bytes in, Floats out) {
  const std::size_t headers = in.size() - out.size();
  if (headers == 0) return;
  const std::size_t rows = headers / ScaledRow::header_bytes;
  const std::size_t row = in.size() / rows;
  const std::size_t width = out.size() / rows;
  for (std::size_t r = 0; r < rows; ++r)
    row_q8_KV(ScaledRow(in.subspan(r * row, row)), out.subspan(r * width, width));
}

}  // namespace

DecodeBlock decoder_of(ElementType type) {
  switch (type) {
    case ElementType::f32: return plain_f32;
    case ElementType::f16: return plain_f16;
    case ElementType::bf16: return plain_bf16;
    case ElementType::q8_0: return block_q8_0;
    case ElementType::q4_0: return block_q4_0;
    case ElementType::q4_1: return block_q4_1;
    case ElementType::q5_0: return block_q5_0;
    case ElementType::q5_1: return block_q5_1;
    case ElementType::iq4_nl: return block_iq4_nl;
    case ElementType::q6_0: return block_q6_0;
    case ElementType::q8_KV: return nullptr;
  }
  return nullptr;
}

bool decodes(ElementType type) {
  return type == ElementType::q8_KV || decoder_of(type) != nullptr;
}

void decode(ElementType type, std::span<const std::byte> bytes, std::span<float> floats) {
  if (type == ElementType::q8_KV) return rows_q8_KV(bytes, floats);
  const DecodeBlock decode_block = decoder_of(type);
  const ElementTypeInfo& t = info(type);
  for (; !bytes.empty(); bytes = bytes.subspan(t.block_bytes)) {
    decode_block(bytes.first(t.block_bytes), floats.first(t.block_elements));
    floats = floats.subspan(t.block_elements);
  }
}

}  // namespace kvtool::reference
