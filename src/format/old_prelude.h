// What sessions of before August 2024 have before K and V: see old_state.h for the layout.
#pragma once

#include <string>
#include <vector>

#include "format/header_struct.h"
#include "format/reader.h"
#include "kvtool/dump.h"

namespace kvtool::format {

class Walker;

// The text of the random generator: 625 numbers and blanks; anything shorter is not one.
inline constexpr std::uint32_t least_rng_bytes = 1000;
inline constexpr std::uint64_t old_rng_bytes = 65536;  // versions 0 to 3

[[nodiscard]] inline bool is_old_session(const Dialect& d) {
  return d.body != Body::current && d.body != Body::typed_slot;
}

namespace old {

// Reads a header struct.
void header(Reader& io, Dump& dump);
// Presents it field by field.
void header(Walker& io, const Dump& dump);

template <class Io, class AnyDump>
void rng(Io& io, AnyDump& dump, bool padded) {
  std::uint64_t size = dump.rng.size;
  io.u64("rng_size", size);
  if constexpr (Io::reads)
    io.require(size >= least_rng_bytes && size <= old_rng_bytes, io.offset() - 8, "rng_size",
               "expected the length of a generator's text, found " + std::to_string(size));
  io.opaque("rng", dump.rng, size);
  if (padded) io.opaque("rng_filler", dump.rng_filler, old_rng_bytes - size);
}

template <class Io, class AnyDump>
void padded_logits(Io& io, AnyDump& dump) {
  std::uint64_t capacity = (dump.outputs.logits.size + dump.logits_filler.size) / 4;
  io.u64("logits_capacity", capacity);
  io.floats("n_logits", "logits", dump.outputs.logits);
  const std::uint64_t found = dump.outputs.logits.size / 4;
  if constexpr (Io::reads)
    io.require(found <= capacity && (capacity - found) <= io.cursor().remaining() / 4,
               dump.outputs.logits.offset - 16, "logits_capacity",
               "expected " + std::to_string(found) + " values or more, found " +
                   std::to_string(capacity));
  io.opaque("logits_filler", dump.logits_filler, (capacity - found) * 4);
}

template <class Io, class AnyDump>
void output_ids(Io& io, AnyDump& dump) {
  std::uint64_t n = dump.outputs.ids.size / 4;
  io.u64("n_outputs", n);
  if constexpr (Io::reads)
    io.require(n <= io.cursor().remaining() / 4, io.offset() - 8, "n_outputs",
               std::to_string(n) + " entries of 4 bytes do not fit");
  io.opaque("output_ids", dump.outputs.ids, n * 4);
}

template <class Io, class AnyDump>
void prelude(Io& io, AnyDump& dump) {
  const bool padded = dump.dialect.body < Body::lean;
  rng(io, dump, padded);
  if (dump.dialect.body >= Body::output_ids) output_ids(io, dump);
  if (padded)
    padded_logits(io, dump);
  else
    io.floats("n_logits", "logits", dump.outputs.logits);
  io.floats("n_embd", "embeddings", dump.outputs.embeddings);
}

}  // namespace old

}  // namespace kvtool::format
