// What is known of a field of a header struct: from a model file, from another struct, from text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/header_struct.h"
#include "kvtool/gguf.h"

namespace kvtool::convert_steps {

struct FieldValue {
  std::vector<std::uint32_t>
      words;            // one an element, floats by their bits; arrays: one a layer, or
                        // one for all layers
  std::string said_by;  // "llama.block_count"
  bool stated = true;   // false: what builds of the time took where a model does not say it
};

// What a model tells of a field as the builds of a struct read it. Nothing where it does not, and
// where the value was no matter of the model: until September 2023 the base and scale of RoPE were
// settings of the context, and until August 2023 the model files were others.
[[nodiscard]] std::optional<FieldValue> value_in_model(const Gguf& model,
                                                       const format::HeaderLayout& layout,
                                                       const format::HeaderField& field);

// True for fields that models tell, some if not all.
[[nodiscard]] bool is_of_models(const format::HeaderLayout& layout,
                                const format::HeaderField& field);

// The value of the field of that name and meaning in a struct of layout `from`, if it has one.
[[nodiscard]] std::optional<FieldValue> value_in_header(const format::HeaderLayout& from,
                                                        std::span<const std::byte> bytes,
                                                        const format::HeaderLayout& layout,
                                                        const format::HeaderField& field);

// A value given as text, or several with commas between. Throws Error(usage) for what no such field
// can hold.
[[nodiscard]] FieldValue value_in_text(const format::HeaderField& field, const std::string& text);

// For messages: "128", "1e-05", "4, 4, 8".
[[nodiscard]] std::string spelled(const format::HeaderField& field, const FieldValue& value);

}  // namespace kvtool::convert_steps
