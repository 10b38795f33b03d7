// What the numbers of quantized K say about their rotation, where a file does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/tensor.h"

namespace kvtool {

// The evidence of one attention cache. V shows none beyond the first layer, and is stored as K is
// where both are quantized.
struct CacheEvidence {
  std::size_t memory = 0;       // index into State::memories
  std::uint64_t cells = 0;      // rows looked at, of each layer
  std::uint32_t block = 0;      // the rotation that was tried and shows most, in numbers, which
                                // need not be that of the file; 0: none
  std::optional<double> ratio;  // see RotationEvidence::ratio, all layers together
  Rotation verdict = Rotation::undecided;
  std::string reason;           // why nothing is decided; else empty
};

struct EvidenceOptions {
  // Rows of each layer that are read at most, from the front; more make the evidence stronger.
  std::uint64_t most_cells = 1024;
  // Also caches of which the file itself says how they are rotated.
  bool also_told = false;
};

// Of every attention cache with quantized K that may be rotated, in file order. The block that a
// model is rotated in depends on its heads, which no file shows: each that divides its rows is
// tried. Throws Error(io).
[[nodiscard]] std::vector<CacheEvidence> rotation_evidence(const Dump& dump,
                                                           const EvidenceOptions& options = {});

// A sentence for people: "its K looks rotated (...); this is evidence, no proof".
[[nodiscard]] std::string words_of(const CacheEvidence& evidence);

// True for layouts that llama.cpp stopped writing before it began to rotate (1 April 2026).
// ik_llama.cpp rotates K on request since December 2025 and V since March 2026, and no byte tells.
[[nodiscard]] bool predates_rotation(const Dialect& dialect);

// "plain", "rotated", "undecided".
[[nodiscard]] std::string name_of(Rotation verdict);

}  // namespace kvtool
