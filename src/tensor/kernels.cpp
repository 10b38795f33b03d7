#include "tensor/kernels.h"

#include "tensor/avx2.h"

namespace kvtool::kernels {

#if KVTOOL_HAS_AVX2_CODE

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0 && avx2::has_f16c();
  return has;
}

Decode decoder_of(ElementType type) {
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
Decode decoder_of(ElementType) { return nullptr; }
Encode encoder_of(ElementType) { return nullptr; }
Recode recoder_of(ElementType, ElementType) { return nullptr; }

#endif

}  // namespace kvtool::kernels
