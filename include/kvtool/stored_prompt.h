// What a look at many dumps needs of each: how long its prompt is, what kind of memories stand for
// it, and from where a server can go on. No token list is kept here; see PrefixTree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// A checkpoint of a slot file (SCKP) by what decides whether it helps.
struct RewindPoint {
  std::uint64_t tokens = 0;
  Position pos_min = 0;
  Position pos_max = 0;
};

// From where the memories can go on when a new prompt parts from the stored one.
struct RewindFacts {
  bool window = false;     // there is a window cache
  bool recurrent = false;  // a recurrent state knows only the end of its prompt
  bool verbatim = false;   // there are parts whose inner life is not known
  std::int64_t oldest = 0;  // oldest position that every memory knows; of a state: where it stands
  std::int64_t reach = 0;   // positions before the next token that a window needs (query/rewind.h)
  std::vector<RewindPoint> checkpoints;  // in file order, which is by length
};

struct StoredPrompt {
  std::string name;                  // the file, as it was given
  std::uint64_t tokens = 0;          // ids of the token list
  std::uint64_t cells = 0;           // of the first attention cache, streams together; else 0
  bool has_cache = false;            // there is an attention cache
  std::uint64_t file_bytes = 0;
  std::uint64_t kv_bytes_per_token = 0;  // K and V of a cell in all caches that hold every position
  std::string arch;                  // empty where none is stored
  std::string shape;                 // arrangement, layers and types, see shape_text()
  RewindFacts rewind;
  std::vector<MediaSpan> media;      // of the token list
};

// Takes these facts from a dump, which may have been skimmed (OpenOptions::skim).
[[nodiscard]] StoredPrompt stored_prompt(const Dump& dump);

// One line that says of what shape and types the memories of a dump are: arrangement, and of each
// memory the layers with types, row sizes, orientation and rotation. K/V of two dumps can stand for
// each other if it is equal and they are of one arch.
[[nodiscard]] std::string shape_text(const Dump& dump);

// What llama-server makes of a restored file when the next prompt comes.
struct Reuse {
  std::uint64_t reused = 0;      // tokens of the new prompt that are not computed again
  std::uint64_t recomputed = 0;  // the others
  std::optional<std::size_t> checkpoint;  // to which of RewindFacts::checkpoints it goes back
  std::string reason;            // why `reused` is less than what is shared; empty: it is not
};

// The new prompt has `prompt` tokens, and begins with `shared` (not more) tokens of the stored one.
// Attention caches can be cut anywhere. A window cache and a recurrent state go on only from near
// their end or from a checkpoint; a window cache that is not full yet, only from a checkpoint. At
// least one token is always computed, since the server needs its logits.
[[nodiscard]] Reuse reuse_of(const StoredPrompt& stored, std::uint64_t shared,
                             std::uint64_t prompt);

}  // namespace kvtool
