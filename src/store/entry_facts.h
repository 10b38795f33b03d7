// What the catalogue keeps of an entry's prompt beside its tokens, as bytes.
#pragma once

#include <vector>

#include "kvtool/stored_prompt.h"
#include "store/bytes.h"

namespace kvtool::store {

// Everything but names, architecture and shape.
[[nodiscard]] ByteVector encode_facts(const StoredPrompt& prompt);
// Throws Error(damaged).
[[nodiscard]] StoredPrompt decode_facts(std::span<const std::byte> bytes);

// True if a server can cut the cache at any length.
[[nodiscard]] bool rewinds(const StoredPrompt& prompt);
// Lengths of a shared beginning from which on an entry that cannot go back is of use: where its
// memories stand, and its checkpoints. Each once.
[[nodiscard]] std::vector<std::uint64_t> useful_lengths(const StoredPrompt& prompt);

}  // namespace kvtool::store
