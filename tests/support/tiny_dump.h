// Dumps of a few hundred bytes, written word by word from the format's description and not by
// kvtool's writer: one of every layout, those included of which no genuine file is at hand.
// (Sessions of before 2024 have filler that no file can lack: 64 KiB, and 2 MiB in version 0.)
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
  fork_index,     // ik_llama.cpp: rows of an index behind the others
};

// A cell of an attention cache. One of a sequence has no ids where the layout stores none.
struct TinyCell {
  std::int32_t position = 0;
  std::vector<std::int32_t> ids;
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
  bool gap = false;             // ik_llama.cpp: the first layer has no cache
  bool single = false;          // sessions 0 to 7: K and V are f32
  std::uint32_t layers = 2;     // of each memory; ik_llama.cpp's have one more
  std::uint32_t k_width = 2;    // elements of a row of K
  std::uint32_t v_width = 3;    // of V where the layout has a width for it
  std::uint32_t type = 1;       // of K and V where the layout stores types: f16, as a dump numbers it
  // What is in each stream; without it the first has `cells` cells as cell_of() tells.
  std::vector<std::vector<TinyCell>> tables = {};
};

// How many cells a stream of its caches has.
[[nodiscard]] std::uint32_t cells_of(const TinyDump& tiny, std::size_t stream);
// A cell of a stream. Without a table cell i is at position i of sequence 0, and the first one is of
// others as well where a cell can be of several.
[[nodiscard]] TinyCell cell_of(const TinyDump& tiny, std::size_t stream, std::uint32_t cell);

// Its bytes.
[[nodiscard]] ByteVector build(const TinyDump& tiny);

// One of every layout.
[[nodiscard]] const std::vector<TinyDump>& tiny_dumps();
// The one of that layout; throws if there is none.
[[nodiscard]] const TinyDump& tiny_dump(const std::string& layout);

}  // namespace kvtool::test
