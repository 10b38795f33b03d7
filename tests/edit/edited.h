// What tests of sequence edits have in common.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/sequences.h"
#include "support/contents.h"
#include "support/testdata.h"

namespace kvtool::test {

using DumpPtr = std::shared_ptr<const Dump>;

inline DumpPtr genuine(const std::string& file) {
  return std::make_shared<const Dump>(open_dump(testdata(file).string()));
}

inline DumpPtr written(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  EXPECT_EQ(sink.bytes().size(), size_of(plan));
  return std::make_shared<const Dump>(open_dump(memory_source("written", sink.bytes())));
}

// The message of the refusal; empty if there was none.
template <class F>
std::string refusal(F&& edit) {
  try {
    edit();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// One sequence of a memory as it is seen from outside: by position, with the bytes of its cells.
struct SeenCell {
  Position position;
  CellExtra extra;
  ByteVector payload;
  auto tie() const { return std::tie(position, extra.x, extra.y, payload); }
  bool operator==(const SeenCell& other) const { return tie() == other.tie(); }
  bool operator<(const SeenCell& other) const { return tie() < other.tie(); }
};

inline std::vector<SeenCell> seen(const Dump& dump, std::size_t memory, SequenceId id) {
  std::vector<SeenCell> cells;
  for (const Stream& stream : dump.state.memories.at(memory).streams)
    for (std::size_t c = 0; c < stream.cells.size(); ++c) {
      const auto ids = stream.cells.sequences(c);
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) continue;
      cells.push_back({stream.cells.position(c), stream.cells.extra(c),
                       whole_payload(dump, stream, c)});
    }
  std::sort(cells.begin(), cells.end());
  return cells;
}

inline std::vector<Position> positions(const Dump& dump, std::size_t memory, SequenceId id) {
  std::vector<Position> list;
  for (const SeenCell& cell : seen(dump, memory, id)) list.push_back(cell.position);
  return list;
}

// Positions [a, b) of sequence `id` removed.
inline SequenceEdit without(const DumpPtr& dump, std::optional<SequenceId> id,
                            std::vector<PositionRange> ranges, const PositionOptions& options = {}) {
  SequenceEdit edit = SequenceEdit::of(dump);
  change_positions(edit, {id, std::move(ranges), {}}, options);
  return edit;
}

}  // namespace kvtool::test
