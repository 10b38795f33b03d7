#include "edit/stream_builder.h"

#include <fmt/format.h>

#include <limits>

#include "kvtool/error.h"

namespace kvtool {
namespace {

bool continues(const CellRun& run, const CellRun& next) {
  return run.dump == next.dump && run.stream == next.stream && run.shift == next.shift &&
         run.first + run.count == next.first;
}

Position sum(Position position, std::int64_t by) {
  const std::int64_t to = std::int64_t{position} + by;
  if (to < 0)
    throw Error(ErrorKind::refused,
                fmt::format("position {} would become {}; remove it first (kvtool seq rm)",
                            position, to));
  if (to > std::numeric_limits<Position>::max())
    throw Error(ErrorKind::refused, fmt::format("position {} would become {}, beyond 2147483647",
                                                position, to));
  return static_cast<Position>(to);
}

}  // namespace

void move_by(StreamCell& cell, std::int64_t by, bool with_extra) {
  const Position to = sum(cell.position, by);
  cell.origin.shift += to - cell.position;
  cell.position = to;
  if (!with_extra) return;
  cell.extra.x = sum(cell.extra.x, by);
  cell.extra.y = sum(cell.extra.y, by);
}

void StreamBuilder::append(const StreamCell& cell) {
  cells_.append(cell.position, cell.ids, cell.extra);
  if (!origin_.empty() && continues(origin_.back(), cell.origin))
    ++origin_.back().count;
  else
    origin_.push_back(cell.origin);
}

void StreamBuilder::finish(Stream& stream) {
  stream.cells = std::move(cells_);
  stream.origin = std::move(origin_);
}

void for_each_cell(const Stream& stream, const std::function<void(StreamCell&)>& f) {
  StreamCell cell;
  std::size_t at = 0;
  for (const CellRun& run : stream.origin)
    for (std::uint32_t i = 0; i < run.count; ++i, ++at) {
      const auto ids = stream.cells.sequences(at);
      cell.position = stream.cells.position(at);
      cell.ids.assign(ids.begin(), ids.end());
      cell.extra = stream.cells.extra(at);
      cell.origin = {run.dump, run.stream, run.first + i, 1, run.shift};
      f(cell);
    }
}

void rebuild(Stream& stream, const std::function<void(StreamCell&, StreamBuilder&)>& f) {
  StreamBuilder builder(stream.cells.extension());
  for_each_cell(stream, [&](StreamCell& cell) { f(cell, builder); });
  builder.finish(stream);
}

}  // namespace kvtool
