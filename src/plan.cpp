#include "kvtool/plan.h"

#include <fmt/format.h>

#include <utility>

#include "kvtool/error.h"

namespace kvtool {
namespace {

// The source cell behind each cell of a stream, one entry a cell.
std::vector<CellRun> cells_one_by_one(const Stream& stream) {
  std::vector<CellRun> cells;
  cells.reserve(stream.cells.size());
  for (const CellRun& run : stream.origin)
    for (std::uint32_t i = 0; i < run.count; ++i)
      cells.push_back({run.dump, run.stream, run.first + i, 1, run.shift});
  return cells;
}

bool continues(const CellRun& run, const CellRun& next) {
  return run.dump == next.dump && run.stream == next.stream && run.shift == next.shift &&
         run.first + run.count == next.first;
}

void append_run(std::vector<CellRun>& runs, const CellRun& cell) {
  if (!runs.empty() && continues(runs.back(), cell))
    runs.back().count += cell.count;
  else
    runs.push_back(cell);
}

}  // namespace

Plan Plan::of(std::shared_ptr<const Dump> dump) {
  Plan plan;
  plan.target = *dump;
  plan.sources.push_back(std::move(dump));
  return plan;
}

Stream& Plan::stream(std::uint32_t memory, std::uint32_t stream) {
  auto& memories = target.state.memories;
  if (memory >= memories.size())
    throw Error(ErrorKind::usage,
                fmt::format("memory {} does not exist; there are {}", memory, memories.size()));
  auto& streams = memories[memory].streams;
  if (stream >= streams.size())
    throw Error(ErrorKind::usage, fmt::format("stream {} of memory {} does not exist; there are {}",
                                              stream, memory, streams.size()));
  return streams[stream];
}

void reorder(Stream& stream, const std::vector<std::uint32_t>& order) {
  const std::vector<CellRun> before = cells_one_by_one(stream);
  CellTable cells(stream.cells.extension());
  cells.reserve(order.size());
  std::vector<CellRun> origin;
  for (const std::uint32_t cell : order) {
    cells.append_from(stream.cells, cell);
    append_run(origin, before.at(cell));
  }
  stream.cells = std::move(cells);
  stream.origin = std::move(origin);
}

}  // namespace kvtool
