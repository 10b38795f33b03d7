// Dumps of a few hundred bytes, written word by word from the format's description and not by
// kvtool's writer: one of every layout, those included of which no genuine file is at hand.
#pragma once

#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "support/bytes.h"

namespace kvtool::test {

// A memory of a tiny dump.
enum class Piece {
  kv,             // attention, K and V
  keys,           // attention without V
  recurrent,
  recurrent_ple,  // with the untyped row behind one R row
  dsv4_head,
  dsv4_part_head,
  dsv4_body,
};

struct TinyDump {
  const char* layout;  // how open_dump is to name it
  Dialect dialect;
  std::vector<Piece> pieces = {Piece::kv};
  bool transposed = false;      // V
  std::uint32_t streams = 1;    // of attention caches; all but the first without cells
  std::uint32_t cells = 3;
  bool checkpoints = false;     // SCKP with one checkpoint
  bool draft = false;           // SDFT
};

// Its bytes.
[[nodiscard]] ByteVector build(const TinyDump& tiny);

// One of every layout.
[[nodiscard]] const std::vector<TinyDump>& tiny_dumps();
// The one of that layout; throws if there is none.
[[nodiscard]] const TinyDump& tiny_dump(const std::string& layout);

}  // namespace kvtool::test
