#include "format/row_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/scaled_row.h"

namespace kvtool::format {
namespace {

using Bytes = std::span<const std::byte>;

// Rows of the file that are looked at. One would do, if it is not all zero.
constexpr std::uint64_t sample_rows = 4;
// No model has longer rows, and none more heads.
constexpr std::uint64_t most_row_bytes = 1U << 18U;
constexpr std::uint16_t most_heads = 1024;

// All rows of `row` bytes that `sample` has whole.
bool add_up(Bytes sample, std::size_t row) {
  for (std::size_t at = 0; at + row <= sample.size(); at += row)
    if (!ScaledRow(sample.subspan(at, row)).adds_up()) return false;
  return true;
}

std::uint16_t heads_of(Bytes sample, std::uint64_t elements, std::uint64_t blocks) {
  for (std::uint16_t heads = 1; heads <= std::min<std::uint64_t>(blocks, most_heads); ++heads)
    if (blocks % heads == 0 &&
        add_up(sample, static_cast<std::size_t>(elements / heads) + ScaledRow::header_bytes))
      return heads;
  return 1;
}

void find_heads(const Source& source, Tensor& tensor) {
  const bool has_rows = tensor.orientation == Orientation::rows && tensor.extent.size > 0;
  if (!has_rows || tensor.type != ElementType::q8_KV || tensor.row_bytes > most_row_bytes) return;
  std::vector<std::byte> sample(
      static_cast<std::size_t>(std::min(tensor.extent.size, sample_rows * tensor.row_bytes)));
  source.read_at(tensor.extent.offset, sample);
  const std::uint64_t elements = tensor.cell_elements();
  tensor.heads = heads_of(sample, elements, elements / info(tensor.type).block_elements);
}

// What is said of a stream whose cells do not lie apart.
std::optional<std::string> note_of(const Stream& stream) {
  const Tensor* tensor = misaligned_tensor(stream);
  if (tensor == nullptr) return std::nullopt;
  const std::uint64_t cells = stream.cells.size();
  return fmt::format(
      "a cell has {} rows of {}, by their sums, and the file the first {} of {} cells",
      tensor->heads, info(tensor->type).name, whole_cells(*tensor, cells).count, cells);
}

}  // namespace

void find_row_heads(Dump& dump) {
  for_each_stream(dump, [&](Stream& stream) {
    for (Layer& layer : stream.layers) {
      find_heads(*dump.source, layer.k);
      find_heads(*dump.source, layer.v);
    }
    if (auto note = note_of(stream)) dump.notes.push_back(std::move(*note));
  });
}

const Tensor* misaligned_tensor(const Stream& stream) {
  for (const Layer& layer : stream.layers)
    for (const Tensor* tensor : {&layer.k, &layer.v})
      if (is_misaligned(*tensor)) return tensor;
  return nullptr;
}

}  // namespace kvtool::format
