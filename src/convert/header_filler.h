// The header struct of a session of before August 2024, put together from all that is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/missing.h"
#include "format/header_struct.h"
#include "kvtool/gguf.h"

namespace kvtool::convert_steps {

struct HeaderSources {
  const Dump* known = nullptr;  // a dump with a header struct, of the same layout or of another one
  const Gguf* model = nullptr;
  const std::map<std::string, std::string>* fields = nullptr;  // ConvertOptions::fields
  std::optional<std::uint32_t> n_ctx;                          // --ctx-size
  std::uint32_t known_n_ctx = 0;  // the context of a dump whose struct does not say it; 0: unknown
};

struct FilledHeader {
  std::vector<std::byte> bytes;      // not for use if something is missing
  std::vector<std::string> changes;  // what options changed in a known struct, one sentence each
};

// Fills every field: from an option first, then from the dump, then from the model. What nothing
// tells goes to `missing`. Throws Error(refused) where the model contradicts an option or the dump,
// naming both, Error(usage) for text that is no value of its field.
[[nodiscard]] FilledHeader fill_header(const format::HeaderLayout& layout,
                                       const HeaderSources& sources, Missing& missing);

// Fields besides those of the header struct that options can set.
inline constexpr const char* pool_size_field = "pool_size";
inline constexpr const char* logits_capacity_field = "logits_capacity";
// One of them, if it is there. Throws Error(usage) for what is no number.
[[nodiscard]] std::optional<std::uint64_t> number_of(
    const std::map<std::string, std::string>& fields, const char* name);

// Throws Error(usage) for a field that a session with this dialect has not, or that is no matter of
// options.
void need_fields_of(const Dialect& to, const std::map<std::string, std::string>& fields);

}  // namespace kvtool::convert_steps
