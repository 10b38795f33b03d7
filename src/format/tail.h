// What llama-server writes behind the state of a slot, since 0.6.0 (October 2026).
//
//   ["SCKP", u32 1, u32 count, count times:
//       u64 n_tokens, i32 pos_min, i32 pos_max, blob target, blob draft, blob speculation]
//   ["SDFT", u32 1, blob state, blob speculation]
//   blob: u64 size, then a sequence state (dialects with a prefix) of that size, or nothing
//
// A checkpoint's blob holds only what cannot be rewound: the window cache, the recurrent state, or
// both. Its cells name the slot's sequence. Without this tail a window or recurrent model restores
// with success and then reads its whole prompt again.
#pragma once

#include "format/container.h"
#include "format/state.h"
#include "format/walker.h"
#include "kvtool/dump.h"

namespace kvtool::format {

inline constexpr std::uint32_t checkpoints_magic = 0x504b4353;  // "SCKP"
inline constexpr std::uint32_t draft_magic = 0x54464453;        // "SDFT"

// llama-server keeps 32 unless told otherwise.
inline constexpr std::uint32_t most_checkpoints = 4096;

// Reads a blob: its bounds, and its state where that reads to its last byte.
void blob(Reader& io, Blob& blob, const Dialect& slot);
// Presents a blob; its size follows from its content.
void blob(Walker& io, const Blob& blob, const Dialect& slot);

template <class Io, class AnyCheckpoint>
void checkpoint(Io& io, AnyCheckpoint& c, const Dialect& slot) {
  io.u64("n_tokens", c.tokens);
  io.i32("pos_min", c.pos_min);
  io.i32("pos_max", c.pos_max);
  {
    const Scope in = io.scope("target");
    blob(io, c.target, slot);
  }
  {
    const Scope in = io.scope("draft");
    blob(io, c.draft, slot);
  }
  const Scope in = io.scope("speculation");
  blob(io, c.speculation, slot);
}

template <class Io, class AnyTail>
void checkpoints(Io& io, AnyTail& tail, const Dialect& slot) {
  const Scope tail_scope = io.scope("tail");
  io.constant("magic", checkpoints_magic);
  io.constant("version", 1);
  const std::uint32_t n = io.count("count", tail.checkpoints.size(), 40, most_checkpoints);
  if constexpr (Io::reads) tail.checkpoints.resize(n);
  for (std::size_t i = 0; i < tail.checkpoints.size(); ++i) {
    const Scope in = io.scope("checkpoint", i);
    checkpoint(io, tail.checkpoints[i], slot);
  }
}

template <class Io, class AnyTail>
void draft(Io& io, AnyTail& tail, const Dialect& slot) {
  const Scope outer = io.scope("tail");
  const Scope tail_scope = io.scope("draft_model");
  io.constant("magic", draft_magic);
  io.constant("version", 1);
  {
    const Scope in = io.scope("state");
    blob(io, tail.draft, slot);
  }
  const Scope in = io.scope("speculation");
  blob(io, tail.draft_speculation, slot);
}

// Everything behind the memories of a slot file. When reading, what is there decides.
template <class Io, class AnyTail>
void tail(Io& io, AnyTail& t, const Dialect& slot) {
  if (t.has_checkpoints) checkpoints(io, t, slot);
  if (t.has_draft) draft(io, t, slot);
  const Scope in = io.scope("tail");
  if (t.trailing.size > 0) io.opaque("trailing", t.trailing, t.trailing.size);
}

// Reads the tail from `io` to the end of the file. Bytes that belong to neither part, or to a part
// that breaks off, become Tail::trailing, and the reason is returned (empty: all is well).
std::string read_tail(Reader& io, Tail& tail, const Dialect& slot);

}  // namespace kvtool::format
