// Tiny dumps for tests of edits.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "edit/edited.h"
#include "support/tiny_dump.h"

namespace kvtool::test {

inline DumpPtr opened(const TinyDump& tiny) {
  return std::make_shared<const Dump>(
      open_dump(memory_source(tiny.layout, build(tiny)), {tiny.layout, {}}));
}

inline DumpPtr tiny(const std::string& layout) { return opened(tiny_dump(layout)); }

// Three cells of one sequence.
inline DumpPtr tiny_of_one_sequence(const std::string& layout) {
  TinyDump dump = tiny_dump(layout);
  dump.tables = {{{0, {0}}, {1, {0}}, {2, {0}}}};
  return opened(dump);
}

// A tiny dump whose facts a test changes before it goes on.
inline std::shared_ptr<Dump> changeable(const std::string& layout) {
  return std::make_shared<Dump>(*tiny(layout));
}

// Cells of one sequence at these positions, named or without ids.
inline CellTable cells_at(const std::vector<Position>& positions,
                          const std::vector<SequenceId>& ids = {}) {
  CellTable cells;
  for (const Position p : positions) cells.append(p, ids);
  return cells;
}

inline bool holds(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

inline bool holds(const std::vector<std::string>& notes, const std::string& words) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return holds(note, words); });
}

}  // namespace kvtool::test
