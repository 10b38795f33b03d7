#include "tensor/kernels.h"

#include <cstring>

#include "tensor/avx2.h"

namespace kvtool::kernels {
namespace {

// Floats are what they are stored as, on every processor.
void decode_f32(const std::byte* in, float* out, std::size_t elements) {
  if (elements > 0) std::memcpy(out, in, elements * sizeof(float));
}
void encode_f32(const float* in, std::byte* out, std::size_t elements) {
  if (elements > 0) std::memcpy(out, in, elements * sizeof(float));
}

}  // namespace

#if KVTOOL_HAS_AVX2_CODE

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0 && avx2::has_f16c();
  return has;
}

Decode decoder_of(ElementType type) {
  if (type == ElementType::f32) return decode_f32;
  if (!has_avx2()) return nullptr;
  switch (type) {
    case ElementType::f16: return avx2::decode_f16;
    case ElementType::bf16: return avx2::decode_bf16;
    case ElementType::q8_0: return avx2::decode_q8_0;
    case ElementType::q4_0: return avx2::decode_q4_0;
    default: return nullptr;
  }
}

Encode encoder_of(ElementType type) {
  if (type == ElementType::f32) return encode_f32;
  if (!has_avx2()) return nullptr;
  switch (type) {
    case ElementType::f16: return avx2::encode_f16;
    case ElementType::bf16: return avx2::encode_bf16;
    case ElementType::q8_0: return avx2::encode_q8_0;
    case ElementType::q4_0: return avx2::encode_q4_0;
    default: return nullptr;
  }
}

Recode recoder_of(ElementType from, ElementType to) {
  if (!has_avx2()) return nullptr;
  if (from == ElementType::f16 && to == ElementType::q8_0) return avx2::f16_to_q8_0;
  if (from == ElementType::f16 && to == ElementType::q4_0) return avx2::f16_to_q4_0;
  if (from == ElementType::q8_0 && to == ElementType::f16) return avx2::q8_0_to_f16;
  return nullptr;
}

#else

bool has_avx2() { return false; }
Decode decoder_of(ElementType type) { return type == ElementType::f32 ? decode_f32 : nullptr; }
Encode encoder_of(ElementType type) { return type == ElementType::f32 ? encode_f32 : nullptr; }
Recode recoder_of(ElementType, ElementType) { return nullptr; }

#endif

}  // namespace kvtool::kernels
