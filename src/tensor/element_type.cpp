#include "kvtool/element_type.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tensor/scaled_row.h"

namespace kvtool {
namespace {

constexpr ElementTypeInfo entry(std::int32_t id, std::string_view name, std::uint32_t elements,
                                std::uint32_t bytes) {
  return {static_cast<ElementType>(id), name, elements, bytes};
}

constexpr ElementTypeInfo fork_entry(std::int32_t id, std::string_view name, std::uint32_t elements,
                                     std::uint32_t bytes, std::uint32_t row_header) {
  return {static_cast<ElementType>(id), name, elements, bytes, row_header, true};
}

// Ids 4, 5, 31 to 33 and 36 to 38 belonged to types that ggml has removed.
constexpr std::array types = {
    entry(0, "f32", 1, 4),         entry(1, "f16", 1, 2),         entry(2, "q4_0", 32, 18),
    entry(3, "q4_1", 32, 20),      entry(6, "q5_0", 32, 22),      entry(7, "q5_1", 32, 24),
    entry(8, "q8_0", 32, 34),      entry(9, "q8_1", 32, 36),      entry(10, "q2_K", 256, 84),
    entry(11, "q3_K", 256, 110),   entry(12, "q4_K", 256, 144),   entry(13, "q5_K", 256, 176),
    entry(14, "q6_K", 256, 210),   entry(15, "q8_K", 256, 292),   entry(16, "iq2_xxs", 256, 66),
    entry(17, "iq2_xs", 256, 74),  entry(18, "iq3_xxs", 256, 98), entry(19, "iq1_s", 256, 50),
    entry(20, "iq4_nl", 32, 18),   entry(21, "iq3_s", 256, 110),  entry(22, "iq2_s", 256, 82),
    entry(23, "iq4_xs", 256, 136), entry(24, "i8", 1, 1),         entry(25, "i16", 1, 2),
    entry(26, "i32", 1, 4),        entry(27, "i64", 1, 8),        entry(28, "f64", 1, 8),
    entry(29, "iq1_m", 256, 56),   entry(30, "bf16", 1, 2),       entry(34, "tq1_0", 256, 54),
    entry(35, "tq2_0", 256, 66),   entry(39, "mxfp4", 32, 17),
    fork_entry(133, "q6_0", 32, 26, 0), fork_entry(151, "q8_KV", 32, 32, ScaledRow::header_bytes),
};

}  // namespace

std::span<const ElementTypeInfo> element_types() { return types; }

const ElementTypeInfo* find_element_type(std::int32_t id) {
  const auto* at = std::find_if(types.begin(), types.end(), [&](const ElementTypeInfo& t) {
    return static_cast<std::int32_t>(t.type) == id;
  });
  return at == types.end() ? nullptr : at;
}

const ElementTypeInfo* find_element_type(std::string_view name) {
  const auto* at = std::find_if(types.begin(), types.end(),
                                [&](const ElementTypeInfo& t) { return t.name == name; });
  return at == types.end() ? nullptr : at;
}

const ElementTypeInfo& info(ElementType type) {
  const auto* found = find_element_type(static_cast<std::int32_t>(type));
  if (found == nullptr) throw std::logic_error("element type without an entry");
  return *found;
}

}  // namespace kvtool
