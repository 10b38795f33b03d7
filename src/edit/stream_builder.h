// Rebuilds a stream cell by cell: labels and the data behind them together.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool {

// One cell on its way.
struct StreamCell {
  Position position = 0;
  std::vector<SequenceId> ids;
  CellExtra extra;
  CellRun origin;  // one cell
};

// Moves a cell by so many positions: its label, the places of an image's cell, and the rotation
// that its K needs.
void move_by(StreamCell& cell, std::int64_t by, bool with_extra);

class StreamBuilder {
 public:
  explicit StreamBuilder(CellExtension extension) : cells_(extension) {}
  // Goes on behind the cells of `stream`, which has none until finish().
  explicit StreamBuilder(Stream& stream)
      : cells_(std::move(stream.cells)), origin_(std::move(stream.origin)) {}

  void append(const StreamCell& cell);
  // Replaces the cells of `stream`.
  void finish(Stream& stream);

 private:
  CellTable cells_;
  std::vector<CellRun> origin_;
};

// Calls f(cell) for each cell in order; f may change its copy.
void for_each_cell(const Stream& stream, const std::function<void(StreamCell&)>& f);

// Replaces the cells of a stream by what f(cell, builder) appends for each of them.
void rebuild(Stream& stream, const std::function<void(StreamCell&, StreamBuilder&)>& f);

}  // namespace kvtool
