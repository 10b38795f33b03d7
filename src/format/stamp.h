// The first words of a file: what they say, and what is refused for them alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/cursor.h"
#include "format/dialect.h"
#include "kvtool/error.h"

namespace kvtool::format {

// As far as the file has them; a bare state begins with other words.
struct Stamp {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
};

[[nodiscard]] Stamp read_stamp(Window& window);
[[nodiscard]] bool is_dump_magic(std::uint32_t magic);

// The ways in which a file with this stamp can be laid out; none for an unknown version.
[[nodiscard]] std::vector<Dialect> dialects_of(const Stamp& stamp);

[[noreturn]] void fail_at(std::uint64_t offset, const char* field, ErrorKind kind,
                          const std::string& message);

// Throws Error(damaged, unsupported) for things that people hand over instead of a dump: an empty
// or cut file, a model, something packed.
void refuse_other_files(const Window& window, const Stamp& stamp);
// True for the state of a whole context of before August 2024, which begins with the length of its
// generator's text and the text.
[[nodiscard]] bool is_old_state(Window& window);
// Throws Error(refused): such a state needs sizes that are not in it.
[[noreturn]] void ask_for_shape();
[[noreturn]] void refuse_version(const Stamp& stamp);

}  // namespace kvtool::format
