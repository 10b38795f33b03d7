// What an output will hold: the labels of a target dump, and which source cells its data comes
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// A cell by its place in the file.
struct CellAddress {
  std::uint32_t memory = 0;  // index into State::memories
  std::uint32_t stream = 0;  // index into Memory::streams
  std::uint32_t cell = 0;    // index into Stream::cells
};

// An edit makes a Plan and moves no bytes; the writer turns it into bytes.
struct Plan {
  std::vector<std::shared_ptr<const Dump>> sources;  // what CellRun::dump counts; opaque extents
                                                     // (outputs, verbatim blocks) are of the first
  Dump target;                                       // labels and shapes of the output
  std::uint32_t rng_source = 0;                      // the source that target.rng is of
  std::uint32_t pool_source = 0;                     // the same for the records and the unused
                                                     // memory of target.state.old (session 0)

  // The identity: writing it gives back the dump's file, byte for byte.
  [[nodiscard]] static Plan of(std::shared_ptr<const Dump> dump);
  // The stream of the target that an edit works on. Throws Error(usage) if there is none.
  [[nodiscard]] Stream& stream(std::uint32_t memory, std::uint32_t stream);
};

// Replaces the cells of a target stream: the new cell i is today's cell order[i]. Indices may be
// left out (the cell is dropped). Labels and data move together.
void reorder(Stream& stream, const std::vector<std::uint32_t>& order);

}  // namespace kvtool
