// The header struct of sessions 0 to 7: the model parameters of the build that wrote them, as they
// lay in its memory. Every field that came, went or moved changed the files, mostly without a new
// version number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool::format {

enum class HeaderFieldKind : char {
  number = 'u',    // u32
  signed_number = 'i',
  real = 'f',      // f32
  boolean = 'B',   // one byte
  bits = 'b',      // one byte of bit fields
};

struct HeaderField {
  std::string name;
  HeaderFieldKind kind;
  std::uint32_t count = 1;   // of array elements
  std::uint32_t offset = 0;  // in the struct
  [[nodiscard]] std::uint32_t bytes() const;
};

// One layout of the struct.
struct HeaderLayout {
  HeaderStruct id;
  const char* name;   // "s120"
  const char* from;   // first and last day on which builds had it
  const char* until;
  std::uint32_t size = 0;
  std::vector<HeaderField> fields;  // in order; runs of bytes are padded to four
};

// All layouts, oldest first.
[[nodiscard]] const std::vector<HeaderLayout>& header_layouts();
[[nodiscard]] const HeaderLayout& header_layout(HeaderStruct id);

// What a cache's shape follows from.
struct HeaderFacts {
  std::uint32_t n_vocab = 0;
  std::uint32_t n_ctx = 0;  // 0: the struct does not say
  std::uint32_t n_embd = 0;
  std::uint32_t n_head = 0;     // of the first layer
  std::uint32_t n_head_kv = 0;
  bool recurrent = false;
  std::vector<std::uint64_t> k_width;  // elements of a row, for each layer
  std::vector<std::uint64_t> v_width;
};
[[nodiscard]] HeaderFacts facts_of(HeaderStruct id, std::span<const std::byte> bytes);

// The first field whose value no model has, and why; an empty text: none.
struct HeaderFlaw {
  std::uint32_t offset = 0;
  std::string field;
  std::string problem;
};
[[nodiscard]] HeaderFlaw flaw_of_header(HeaderStruct id, std::span<const std::byte> bytes);

}  // namespace kvtool::format
