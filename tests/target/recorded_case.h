// The files that were handed to real servers, made again from good ones as their descriptions say.
#pragma once

#include <optional>
#include <string>

#include "support/bytes.h"

namespace kvtool::test {

// The bytes that `description` stands for, e.g. "llama-f16.ggsq, u32 at 4 set to 1", among the files
// of `server` ("b0.7.0"). Nothing for the file that was missing on purpose. Throws
// std::runtime_error for a description that it does not understand: no case is passed over.
[[nodiscard]] std::optional<ByteVector> made_as(const std::string& description,
                                                const std::string& server);

}  // namespace kvtool::test
