// The text of the random generator.
#pragma once

#include <cstdint>
#include <string>

#include "convert/missing.h"
#include "kvtool/convert.h"

namespace kvtool::convert_steps {

// The text of a generator that was just seeded: what llama.cpp of before September 2024, which kept
// a std::mt19937 and wrote it as libstdc++ does, holds after llama_set_rng_seed(seed).
[[nodiscard]] std::string seeded_generator(std::uint32_t seed);

// The generator's text is that of the source, of a fresh generator with the seed that was said, or of
// a dump of the target. What nothing tells goes to `missing`.
void change_rng(const Dump& source, const Dialect& dialect, const ConvertOptions& options,
                Conversion& result, Missing& missing);

// What a session with this dialect is called in messages: "sessions of version 8".
[[nodiscard]] std::string files_of(const Dialect& dialect);

}  // namespace kvtool::convert_steps
