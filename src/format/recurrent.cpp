#include "format/recurrent.h"

#include "kvtool/error.h"

namespace kvtool::format {
namespace {

// A stored row header: what must agree among all R rows, and among all S rows.
struct RowKind {
  ElementType type;
  std::uint64_t bytes;
  bool operator==(const RowKind&) const = default;
};

// Consecutive rows of one kind.
struct Run {
  RowKind kind{};
  std::uint32_t rows = 0;
};

std::optional<RowKind> take_row(Reader& io, const Stream& stream) {
  Reader ahead = io;
  Layer layer;
  try {
    rows(ahead, stream, layer, &Layer::k, r_names);
  } catch (const Error&) {
    return std::nullopt;
  }
  io.take_over(ahead);
  return RowKind{layer.k.type, layer.k.row_bytes};
}

// Takes rows of one kind until another kind or something else comes; `most` bounds them.
Run take_run(Reader& io, const Stream& stream, std::optional<RowKind> kind, std::uint32_t most) {
  Run run;
  while (run.rows < most) {
    Reader ahead = io;
    const auto row = take_row(ahead, stream);
    if (!row || (kind && *row != *kind)) break;
    kind = row;
    io.take_over(ahead);
    ++run.rows;
  }
  run.kind = kind.value_or(RowKind{});
  return run;
}

bool take_ple(Reader& io, const Stream& stream) {
  Reader ahead = io;
  Layer layer;
  try {
    ple_row(ahead, stream, layer);
  } catch (const Error&) {
    return false;
  }
  io.take_over(ahead);
  return layer.ple.row_bytes > 0;
}

// Row counts for R when `run` equal rows stand there: all of them, or half if S looks the same.
void add_shapes(std::vector<RecurrentShape>& shapes, std::uint32_t run, std::uint32_t most,
                std::optional<std::uint32_t> ple_layer) {
  auto add = [&](std::uint32_t layers) {
    if (layers > 0 && layers <= most && (!ple_layer || *ple_layer < layers))
      shapes.push_back({layers, ple_layer});
  };
  add(run);
  if (run % 2 == 0) add(run / 2);
}

bool same_row(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.row_bytes == b.row_bytes;
}

}  // namespace

void require_equal_rows(const Reader& io, const Stream& stream) {
  for (const Layer& layer : stream.layers) {
    const Layer& first = stream.layers.front();
    io.require(same_row(layer.k, first.k), layer.k.extent.offset, "r_row",
               "expected R rows of one type and size");
    io.require(same_row(layer.v, first.v), layer.v.extent.offset, "s_row",
               "expected S rows of one type and size");
  }
}

std::vector<RecurrentShape> scan_recurrent(Reader io, const Dialect& dialect) {
  Memory memory;
  memory.streams.resize(1);
  recurrent_head(io, memory, dialect);
  const Stream& stream = memory.streams.front();
  const std::uint32_t most = memory.model_layers;
  std::vector<RecurrentShape> shapes;
  const Run first = take_run(io, stream, std::nullopt, 2 * most);
  add_shapes(shapes, first.rows, most, std::nullopt);
  if (first.rows > 0 && take_ple(io, stream)) {
    const Run rest = take_run(io, stream, first.kind, 2 * most - first.rows);
    add_shapes(shapes, first.rows + rest.rows, most, first.rows - 1);
  }
  // Nothing fits: let a reader of one layer say what is wrong there.
  if (shapes.empty()) shapes.push_back({1, std::nullopt});
  return shapes;
}

}  // namespace kvtool::format
