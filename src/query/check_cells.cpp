// Findings about cells: what loaders do not check and then stumble over.
#include <fmt/format.h>

#include <algorithm>

#include "format/container.h"
#include "kvtool/facts.h"
#include "query/findings.h"

namespace kvtool {
namespace {

// How many cells of a stream have something wrong, and the first of them.
struct Tally {
  std::uint64_t cells = 0;
  std::size_t first = 0;
  void count(std::size_t cell) {
    if (cells++ == 0) first = cell;
  }
};

bool lists_twice(std::span<const SequenceId> ids) {
  for (std::size_t i = 1; i < ids.size(); ++i)
    if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(i), ids[i]) !=
        ids.begin() + static_cast<std::ptrdiff_t>(i))
      return true;
  return false;
}

// Old sessions keep the places of cells: one in no use has position -1 and no sequence.
bool is_hole(const CellTable& cells, std::size_t cell) {
  return cells.position(cell) == -1 && cells.sequences(cell).empty();
}

void check_holes(const Stream& stream, const std::string& where, Findings& findings) {
  std::uint64_t holes = 0;
  for (std::size_t c = 0; c < stream.cells.size(); ++c) holes += is_hole(stream.cells, c) ? 1 : 0;
  if (holes > 0)
    findings.note("unused_cells", where,
                  fmt::format("{} of {} cells are in no use and take room in the file (defrag packs "
                              "them, unless the version holds the whole context)",
                              holes, stream.cells.size()));
}

void check_beyond(const Stream& stream, const std::string& where, Findings& findings) {
  std::uint64_t used = 0;
  for (std::size_t c = 0; c < stream.beyond.size(); ++c)
    used += is_hole(stream.beyond, c) ? 0 : 1;
  if (used > 0)
    findings.error("cells_without_data", where,
                   fmt::format("cells that are listed without K and V: {}; the build that saved them "
                               "left their content out, and loaders of that time take the file "
                               "without complaint and answer wrongly",
                               used));
}

void check_labels(const CellTable& cells, bool one_sequence, bool keeps_holes,
                  const std::string& where, Findings& findings) {
  Tally negative;
  Tally twice;
  Tally unused;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (keeps_holes && is_hole(cells, c)) continue;
    if (cells.position(c) < 0) negative.count(c);
    if (lists_twice(cells.sequences(c))) twice.count(c);
    if (!one_sequence && cells.sequences(c).empty()) unused.count(c);
  }
  if (negative.cells > 0)
    findings.error("negative_position", where,
                   fmt::format("cells with a negative position: {}, the first is cell {}; "
                               "llama-server restores such a file, and dies at the next request "
                               "if the lowest is -1",
                               negative.cells, negative.first));
  if (twice.cells > 0)
    findings.warning("repeated_sequence_id", where,
                     fmt::format("cells that name a sequence twice: {}, the first is cell {}; "
                                 "loaders abort on it or count it twice",
                                 twice.cells, twice.first));
  if (unused.cells > 0)
    findings.warning("cell_without_sequence", where,
                     fmt::format("cells that belong to no sequence: {}, the first is cell {}; "
                                 "they take room and are never used (defrag drops them)",
                                 unused.cells, unused.first));
}

std::string name_of_sequence(const SequenceFacts& facts) {
  return facts.id ? fmt::format("sequence {}", *facts.id) : "the sequence";
}

void check_sequences(const Stream& stream, bool one_sequence, const std::string& where,
                     Findings& findings) {
  for (const SequenceFacts& facts : sequences_of(stream, one_sequence)) {
    if (facts.duplicates > 0)
      findings.warning("duplicate_position", where,
                       fmt::format("{} has more than one cell at a position, surplus cells: {}; a "
                                   "loader takes both and attends to both",
                                   name_of_sequence(facts), facts.duplicates));
    if (facts.holes > 0)
      findings.warning("holes", where,
                       fmt::format("{} lacks {} positions between {} and {}, the first is {}",
                                   name_of_sequence(facts), facts.holes, facts.pos_min,
                                   facts.pos_max, facts.missing.front().begin));
  }
}

}  // namespace

void check_cells(const Dump& dump, Findings& findings) {
  if (dump.dialect.scrambled)
    findings.error("scrambled", "",
                   "builds of 2023-07-23 to 07-28 saved models with grouped queries wrongly: K and V "
                   "are scrambled, and no loader restores them");
  const bool one = holds_one_sequence(dump);
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m) {
    const Memory& memory = dump.state.memories[m];
    for (std::size_t s = 0; s < memory.streams.size(); ++s) {
      const std::string where = fmt::format("memory {} stream {}", m, s);
      const bool old = dump.dialect.body != Body::current;
      // There the place of a state says whose it is, so places in no use stay.
      const bool places = memory.kind == MemoryKind::recurrent &&
                          format::places_tell_sequences(dump.dialect);
      check_labels(memory.streams[s].cells, one || places, old, where, findings);
      if (old && !places) check_holes(memory.streams[s], where, findings);
      check_beyond(memory.streams[s], where, findings);
      // A recurrent cell is the state after a position, so holes mean nothing there.
      if (memory.kind == MemoryKind::attention)
        check_sequences(memory.streams[s], one, where, findings);
    }
  }
}

}  // namespace kvtool
