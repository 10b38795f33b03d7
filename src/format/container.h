// What comes before the memories: header, token area, architecture, and what old sessions add.
//
//   session (ggsn)   u32 magic, u32 version, tokens, arch, [rng], [outputs], memories
//   slot (ggsq)      u32 magic, u32 version, tokens, memories, [tail]
//   state            arch, [rng], [outputs], memories
//   sequence state   [u32 0xaf143cd8, i32 source sequence], memories
//
//   tokens           u32 n_token, i32 token[n_token]
//   arch             u32 length, characters without NUL
//   rng              u32 length, text                       version 8 (July to September 2024)
//   outputs          u32 n_outputs, i32 output_id[n_outputs],
//                    u64 n_logits, f32[n_logits], u64 n_embd, f32[n_embd]    until February 2026
//
// Sources: files of every build named in testdata/README.md, compared with the memory of the
// programs that wrote them.
#pragma once

#include "format/old_prelude.h"
#include "format/reader.h"
#include "kvtool/dump.h"

namespace kvtool::format {

inline constexpr std::uint32_t session_magic = 0x6767736e;          // "ggsn", on disk n s g g
inline constexpr std::uint32_t slot_magic = 0x67677371;             // "ggsq", on disk q s g g
inline constexpr std::uint32_t sequence_state_magic = 0xaf143cd8U;  // no letters

[[nodiscard]] inline bool has_header(const Dialect& dialect) {
  return dialect.container == Container::session || dialect.container == Container::slot;
}

[[nodiscard]] inline bool has_arch(const Dialect& dialect) {
  return (dialect.container == Container::session || dialect.container == Container::state) &&
         !is_old_session(dialect);
}

// True for dumps of one sequence, whose cells name at most the source id.
[[nodiscard]] inline bool holds_one_sequence(const Dialect& dialect) {
  return dialect.container == Container::slot || dialect.container == Container::sequence_state;
}

// True for what llama.cpp has written since August 2024: neither older nor of the fork.
[[nodiscard]] inline bool is_of_today(const Dialect& dialect) {
  return dialect.body == Body::current && dialect.family == Family::llama_cpp;
}

// True where the place of a recurrent state says which sequence it is of: ik_llama.cpp stores no ids
// with states, and until August 2024 llama.cpp looked for the state of sequence n in cell n.
[[nodiscard]] inline bool places_tell_sequences(const Dialect& dialect) {
  if (holds_one_sequence(dialect)) return false;
  return dialect.family == Family::ik_llama || is_old_session(dialect);
}

template <class Io, class AnyDump>
void header(Io& io, AnyDump& dump) {
  const bool session = dump.dialect.container == Container::session;
  io.constant("magic", session ? session_magic : slot_magic);
  io.constant("version", dump.dialect.version);
  if (dump.dialect.header != HeaderStruct::none) old::header(io, dump);
  io.words("n_token", "tokens", dump.tokens.words);
}

template <class Io, class AnyDump>
void rng_text(Io& io, AnyDump& dump) {
  const std::uint32_t size = io.count("rng_size", dump.rng.size, 1, 1U << 16U);
  if constexpr (Io::reads)
    io.require(size >= least_rng_bytes, io.offset() - 4, "rng_size",
               "expected the length of a generator's text, found " + std::to_string(size));
  io.opaque("rng", dump.rng, size);
}

template <class Io, class AnyOutputs>
void outputs(Io& io, AnyOutputs& outputs) {
  const std::uint32_t n = io.count("n_outputs", outputs.ids.size / 4, 4);
  io.opaque("output_ids", outputs.ids, std::uint64_t{n} * 4);
  io.floats("n_logits", "logits", outputs.logits);
  io.floats("n_embd", "embeddings", outputs.embeddings);
  if constexpr (Io::reads) {
    const std::uint64_t values = outputs.logits.size / 4;
    io.require(n == 0 ? values == 0 : values % n == 0, outputs.logits.offset - 8, "n_logits",
               "expected a multiple of n_outputs " + std::to_string(n) + ", found " +
                   std::to_string(values));
  }
}

// Everything before the memories.
template <class Io, class AnyDump>
void prelude(Io& io, AnyDump& dump) {
  if (has_header(dump.dialect)) header(io, dump);
  if (is_old_session(dump.dialect)) return old::prelude(io, dump);
  if (has_arch(dump.dialect)) {
    if constexpr (Io::reads) dump.arch.emplace();
    io.text("arch", *dump.arch);
  }
  if (dump.dialect.rng_text) rng_text(io, dump);
  if (dump.dialect.outputs) outputs(io, dump.outputs);
}

// The two words before the memories of a sequence state.
template <class Io, class AnyState>
void prefix(Io& io, AnyState& state, const Dialect& dialect) {
  if (!dialect.prefix) return;
  io.constant("magic", sequence_state_magic);
  if constexpr (Io::reads) state.source_sequence.emplace();
  io.i32("source_sequence", *state.source_sequence);
}

}  // namespace kvtool::format
