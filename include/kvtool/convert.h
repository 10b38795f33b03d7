// Re-emitting a dump for another loader: version and layout, kind, streams, types, orientation of
// V, rotation, token form. What the target cannot hold is refused, or dropped when that is allowed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kvtool/gguf.h"
#include "kvtool/plan.h"
#include "kvtool/target.h"

namespace kvtool {

// What the caller says about the rotation of quantized rows in dumps that do not say it themselves
// (all of llama.cpp before 11 / 4, and all of ik_llama.cpp).
enum class StatedRotation {
  unknown,     // a conversion that has to know is refused
  none,        // rows are as the model computed them
  hadamard,    // rows are rotated: llama.cpp since April 2026, ik_llama.cpp with -khad -vhad
  hadamard_k,  // only those of K: ik_llama.cpp with -khad
  hadamard_v,  // only those of V: with -vhad
};

[[nodiscard]] constexpr bool rotates_k(StatedRotation stated) {
  return stated == StatedRotation::hadamard || stated == StatedRotation::hadamard_k;
}
[[nodiscard]] constexpr bool rotates_v(StatedRotation stated) {
  return stated == StatedRotation::hadamard || stated == StatedRotation::hadamard_v;
}

enum class TokenFormChoice {
  keep,     // as it is, but plain where the target's loader knows no payload
  plain,
  payload,
};

struct ConvertOptions {
  std::optional<SequenceId> sequence;  // session to slot: which one; slot to session: its id there
  StatedRotation rotation = StatedRotation::unknown;
  std::optional<Era> written;  // when the dump was written, where the caller knows: decides about
                               // its rotation where `rotation` is unknown
  TokenFormChoice tokens = TokenFormChoice::keep;
  // Parts to leave out although the target could hold them: "outputs", "logits", "embeddings",
  // "rng", "checkpoints", "draft".
  std::set<std::string> strip;
  // Parts that may be lost if the target cannot hold them: "checkpoints", "draft", "outputs",
  // "media", "cells" (those that are listed without K and V, and what follows the first cell that
  // the file does not have whole, see is_misaligned()).
  std::set<std::string> drop;
  // A dump of the target, where parts come from that the source lacks: generator text, and for
  // sessions of before August 2024 header struct, sizes of context, cache and buffer of logits.
  std::shared_ptr<const Dump> like;
  // For sessions of before August 2024, what no dump of the target says:
  std::shared_ptr<const Gguf> model;  // the target's model file, from which its header struct is
                                      // filled
  // Fields of the header struct, "pool_size" and "logits_capacity", by their names in
  // kvtool-format(5), with values as text: one number, for arrays one a layer with commas between.
  std::map<std::string, std::string> fields;
  std::optional<std::uint32_t> seed;  // generator text as of one that was just seeded with this
  std::string layout;  // its layout, as "ggsn6.s164", where the version has several; empty: by the
                       // target's days, `like`, or the source
};

struct Conversion {
  Plan plan;
  std::vector<std::string> changes;  // what was done, one sentence each
  std::vector<std::string> costs;    // what was lost or may surprise, one sentence each
  std::vector<std::string> warnings;  // what was asked for and changes nothing, and what the target
                                      // will take and read wrongly; one sentence each
};

// Throws Error(refused) with the reason and the option that would allow it, Error(usage) for
// targets that contradict themselves and a `written` that did not write such dumps.
[[nodiscard]] Conversion convert(const std::shared_ptr<const Dump>& dump, const Target& target,
                                 const ConvertOptions& options = {});

}  // namespace kvtool
