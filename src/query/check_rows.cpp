// Cells whose K the writer did not save, although it lists them.
#include <fmt/format.h>

#include "format/row_heads.h"
#include "query/findings.h"

namespace kvtool {
namespace {

void check_stream(const Stream& stream, const std::string& where, Findings& findings) {
  const Tensor* tensor = format::misaligned_tensor(stream);
  if (tensor == nullptr) return;
  const WholeCells whole = whole_cells(*tensor, stream.cells.size());
  findings.error(
      "cut_rows", where,
      fmt::format("{} of its {} cells are not in the file whole: a cell has {} rows of {}, "
                  "one for each head, and ik_llama.cpp saved {} bytes of each cell's {}; a "
                  "restore reports success and leaves those cells as they were",
                  stream.cells.size() - whole.count, stream.cells.size(), tensor->heads,
                  info(tensor->type).name, tensor->row_bytes, whole.tensor.row_bytes));
}

}  // namespace

void check_rows(const Dump& dump, Findings& findings) {
  for (std::size_t m = 0; m < dump.state.memories.size(); ++m)
    for (std::size_t s = 0; s < dump.state.memories[m].streams.size(); ++s)
      check_stream(dump.state.memories[m].streams[s], fmt::format("memory {} stream {}", m, s),
                   findings);
}

}  // namespace kvtool
