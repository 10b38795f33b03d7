#include "store/block_maker.h"

#include <algorithm>

namespace kvtool::store {
namespace {

// All transposed tensors of a group together read so much at once.
constexpr std::uint64_t bands_bytes = 12U << 20U;
// Blocks that are packed together: rows of one tensor up to this size, and not more cells.
constexpr std::uint64_t batch_chunk_bytes = 256U << 10U;
constexpr std::uint64_t most_batch_cells = 128;

}  // namespace

BlockMaker::BlockMaker(const Dump& dump, const Cut& cut) : source_(*dump.source), cut_(cut) {
  if (!cut_.recipe.cells.empty()) begin_group();
}

bool BlockMaker::next(Batch& batch) { return next_bytes(batch) || next_cells(batch); }

bool BlockMaker::next_bytes(Batch& batch) {
  const auto& parts = cut_.recipe.bytes;
  if (bytes_part_ == parts.size()) return false;
  const BytesPart& part = parts[bytes_part_];
  const std::uint64_t first = bytes_block_ * part.block_bytes;
  const std::uint64_t left = part.size() - first;
  batch.kind = bytes_part_;
  batch.types = {cut_.byte_types[bytes_part_]};
  batch.of_cells = false;
  batch.ends = {1};
  batch.raw.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, part.block_bytes)));
  batch.shape = {1, {static_cast<std::uint32_t>(batch.raw.size())}};
  read_ranges(part, first, batch.raw);
  if (++bytes_block_ == part.block_count()) {
    bytes_block_ = 0;
    ++bytes_part_;
  }
  return true;
}

void BlockMaker::read_ranges(const BytesPart& part, std::uint64_t first,
                             std::span<std::byte> out) const {
  for (const Extent& range : part.ranges) {
    if (out.empty()) return;
    if (first >= range.size) {
      first -= range.size;
      continue;
    }
    const auto now =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), range.size - first));
    source_.read_at(range.offset + first, out.first(now));
    out = out.subspan(now);
    first = 0;
  }
}

// Readers for the tensors of the group.
void BlockMaker::begin_group() {
  const CellsPart& part = cut_.recipe.cells[cells_part_];
  const auto& tensors = cut_.cell_tensors[cells_part_];
  const std::size_t first = group_ == 0 ? 0 : part.group_ends[group_ - 1];
  const std::size_t count = part.group_ends[group_] - first;
  rows_ = std::vector<Rows>(count);
  widest_row_ = 1;
  for (std::size_t t = 0; t < count; ++t) {
    const TensorSource from{&source_, tensors[first + t], part.cells};
    for (const CellSpan& span : part.order) rows_[t].runs.push_back({from, span.first, span.count});
    rows_[t].reader.begin(rows_[t].runs, bands_bytes / count);
    widest_row_ = std::max<std::uint64_t>(widest_row_, part.tensors[first + t].cell_bytes);
  }
}

// As many of the next blocks as make chunks of the usual size.
void BlockMaker::take_blocks(Batch& batch) {
  const CellsPart& part = cut_.recipe.cells[cells_part_];
  const std::uint64_t most =
      std::min<std::uint64_t>(most_batch_cells, batch_chunk_bytes / widest_row_);
  const std::uint32_t first = cells_block_ == 0 ? 0 : part.block_ends[cells_block_ - 1];
  batch.ends.clear();
  do {
    batch.ends.push_back(part.block_ends[cells_block_++] - first);
  } while (cells_block_ < part.block_ends.size() && part.block_ends[cells_block_] - first <= most);
  batch.shape = {batch.ends.back(), {}};
}

bool BlockMaker::next_cells(Batch& batch) {
  const auto& parts = cut_.recipe.cells;
  if (cells_part_ == parts.size()) return false;
  const CellsPart& part = parts[cells_part_];
  const std::size_t first_tensor = group_ == 0 ? 0 : part.group_ends[group_ - 1];
  const std::uint32_t first = cells_block_ == 0 ? 0 : part.block_ends[cells_block_ - 1];
  batch.kind = (std::uint64_t{cells_part_} + 1) << 32U | group_;
  batch.of_cells = true;
  batch.types.clear();
  batch.raw.clear();
  take_blocks(batch);
  for (std::size_t t = 0; t < rows_.size(); ++t) {
    batch.shape.row_bytes.push_back(part.tensors[first_tensor + t].cell_bytes);
    batch.types.push_back(cut_.cell_tensors[cells_part_][first_tensor + t]->type);
    rows_[t].reader.read(first, batch.shape.cells,
                         [&](const Tensor&, std::uint64_t, auto rows) { append(batch.raw, rows); });
  }
  if (cells_block_ < part.block_ends.size()) return true;
  cells_block_ = 0;
  if (++group_ == part.group_ends.size()) {
    group_ = 0;
    ++cells_part_;
  }
  if (cells_part_ < parts.size()) begin_group();
  return true;
}

}  // namespace kvtool::store
