// The element types of ggml that a cache tensor can have, with the sizes of their blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kvtool {

// The numbers are ggml's type ids as dumps store them (i32).
enum class ElementType : std::int32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  iq4_nl = 20,
  bf16 = 30,
  q6_0 = 133,   // ik_llama.cpp only
  q8_KV = 151,  // ik_llama.cpp only: f32 scale of a row, i32 sum of its bytes, then a byte each
};

// How a type lays elements out: `block_elements` of them share `block_bytes` bytes.
struct ElementTypeInfo {
  ElementType type;
  std::string_view name;         // ggml's own, e.g. "q8_0"
  std::uint32_t block_elements;  // 1 for plain numbers
  std::uint32_t block_bytes;
  std::uint32_t row_header_bytes = 0;  // what a row has before its blocks
  bool fork_only = false;              // known to ik_llama.cpp and not to llama.cpp
};

// All types that ggml knows in 2026, in order of their ids, and behind them those that caches of
// ik_llama.cpp have besides.
[[nodiscard]] std::span<const ElementTypeInfo> element_types();
// The entry of a stored id, or nullptr for an id that ggml does not have.
[[nodiscard]] const ElementTypeInfo* find_element_type(std::int32_t id);
// The entry of a name like "q8_0", or nullptr.
[[nodiscard]] const ElementTypeInfo* find_element_type(std::string_view name);
// The entry of a type that is known to exist.
[[nodiscard]] const ElementTypeInfo& info(ElementType type);

}  // namespace kvtool
