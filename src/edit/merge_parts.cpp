#include "edit/merge_parts.h"

#include "edit/same_shape.h"
#include "edit/stream_builder.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

void require_no_blocks(const Dump& dump) {
  for (const Memory& memory : dump.state.memories)
    if (memory.kind == MemoryKind::verbatim)
      throw Error(ErrorKind::refused, "a compressed cache cannot be joined with another")
          .in_file(dump.source->name());
}

}  // namespace

std::vector<SequenceEdit> parts_of(const DumpList& dumps) {
  if (dumps.empty()) throw Error(ErrorKind::usage, "no files to merge");
  std::vector<SequenceEdit> parts;
  for (std::uint32_t d = 0; d < dumps.size(); ++d) {
    require_no_blocks(*dumps[d]);
    require_same_shape(*dumps.front(), *dumps[d]);
    parts.push_back(SequenceEdit::of(dumps[d]));
    for_each_stream(parts.back().plan.target, [&](Stream& stream) {
      for (CellRun& run : stream.origin) run.dump = d;
    });
  }
  return parts;
}

Stream& filled_stream(Memory& memory) {
  for (Stream& stream : memory.streams)
    if (!stream.cells.empty()) return stream;
  return memory.streams.front();
}

void append_cells(Stream& to, const Stream& from) {
  if (from.cells.empty()) return;
  if (to.cells.empty()) {
    const std::uint32_t ordinal = to.ordinal;
    to = from;
    to.ordinal = ordinal;
    return;
  }
  if (!to.rope) to.rope = from.rope;
  StreamBuilder builder(to);
  for_each_cell(from, [&](StreamCell& cell) { builder.append(cell); });
  builder.finish(to);
}

}  // namespace kvtool
