#include "store/cutter.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "kvtool/map.h"

namespace kvtool::store {
namespace {

// Metadata from this size on (tokens, cells) is cut by itself, so that what it begins with is found
// again in the next save of a growing conversation.
constexpr std::uint64_t own_part_bytes = 4U << 10U;
constexpr std::uint32_t small_blocks = 8U << 10U;
constexpr std::uint32_t large_blocks = 256U << 10U;
constexpr std::uint64_t large_part_bytes = 1U << 20U;
// A block of 8 cells holds tensors up to this size together: many blocks go into a bundle.
constexpr std::uint64_t group_bytes = 128U << 10U;

// Where a cell stands among those of its stream: cells that go into one block are neighbours.
struct CellKey {
  SequenceId sequence = 0;
  Position position = 0;
  std::uint32_t cell = 0;

  [[nodiscard]] auto order() const { return std::tuple(sequence, position, cell); }
  [[nodiscard]] auto block() const {
    return std::tuple(sequence, position / static_cast<Position>(cells_per_block));
  }
};

std::vector<CellKey> sorted_cells(const CellTable& cells) {
  std::vector<CellKey> keys;
  keys.reserve(cells.size());
  for (std::uint32_t c = 0; c < cells.size(); ++c) {
    const auto ids = cells.sequences(c);
    keys.push_back({ids.empty() ? 0 : ids.front(), cells.position(c), c});
  }
  std::ranges::sort(keys, {}, &CellKey::order);
  return keys;
}

void add_to_order(std::uint32_t cell, std::vector<CellSpan>& order) {
  if (!order.empty() && order.back().first + order.back().count == cell)
    ++order.back().count;
  else
    order.push_back({cell, 1});
}

// Order and blocks of a stream's cells, at most `most` in a block.
void order_cells(const Stream& stream, std::uint32_t most, CellsPart& part) {
  part.cells = static_cast<std::uint32_t>(stream.cells.size());
  const std::vector<CellKey> keys = sorted_cells(stream.cells);
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    add_to_order(keys[i].cell, part.order);
    const bool last = i + 1 == keys.size() || keys[i + 1].block() != keys[i].block();
    if (!last && i + 1 - begin < most) continue;
    part.block_ends.push_back(i + 1);
    begin = i + 1;
  }
}

class Cutter {
 public:
  explicit Cutter(const Dump& dump) : dump_(dump), map_(map_of(dump)) {
    for (const MapRange& range : map_) sizes_[range.offset] = range.size;
  }

  Cut take() {
    cut_.recipe.size = dump_.source->size();
    for_each_memory([&](const Memory& memory) {
      for (const Stream& stream : memory.streams) add_stream(memory, stream);
    });
    small_.block_bytes = small_blocks;
    for (const MapRange& range : map_) add_range(range);
    if (!small_.ranges.empty()) add_part(std::move(small_), std::nullopt);
    return std::move(cut_);
  }

 private:
  template <class F>
  void for_each_memory(F&& f) {
    const auto in_state = [&](const State& state) {
      for (const Memory& memory : state.memories) f(memory);
    };
    const auto in_blob = [&](const Blob& blob) {
      if (blob.state) in_state(*blob.state);
    };
    in_state(dump_.state);
    for (const Checkpoint& checkpoint : dump_.tail.checkpoints)
      for (const Blob* blob : {&checkpoint.target, &checkpoint.draft, &checkpoint.speculation})
        in_blob(*blob);
    in_blob(dump_.tail.draft);
    in_blob(dump_.tail.draft_speculation);
  }

  // A tensor that is one range of the file, and whose rows can be blocks.
  [[nodiscard]] bool has_rows(const Tensor& tensor, const Stream& stream) const {
    const auto range = sizes_.find(tensor.extent.offset);
    return tensor.extent.size > 0 && tensor.cell_bytes() <= most_block_bytes &&
           tensor.extent.size == tensor.cell_bytes() * stream.cells.size() &&
           range != sizes_.end() && range->second == tensor.extent.size;
  }

  void add_stream(const Memory& memory, const Stream& stream) {
    std::vector<const Tensor*> tensors;
    std::uint64_t widest = 0;
    for (Tensor Layer::*which : {&Layer::k, &Layer::v, &Layer::ple})
      for (const Layer& layer : stream.layers) {
        const Tensor& tensor = layer.*which;
        if (tensor.orientation == Orientation::absent) continue;
        whole_[tensor.extent.offset] = tensor.type;
        if (!has_rows(tensor, stream)) continue;
        tensors.push_back(&tensor);
        widest = std::max(widest, tensor.cell_bytes());
      }
    if (tensors.empty()) return;
    // A recurrent state knows one moment: no two of them begin alike.
    const bool alone = memory.kind == MemoryKind::recurrent;
    const auto most = static_cast<std::uint32_t>(
        alone ? 1 : std::clamp<std::uint64_t>(most_block_bytes / widest, 1, cells_per_block));
    add_cells(stream, most, std::move(tensors));
  }

  void add_cells(const Stream& stream, std::uint32_t most, std::vector<const Tensor*> tensors) {
    CellsPart part;
    order_cells(stream, most, part);
    std::uint64_t in_group = 0;
    for (const Tensor* tensor : tensors) {
      const std::uint64_t bytes = tensor->cell_bytes() * most;
      if (in_group > 0 && in_group + bytes > group_bytes) {
        part.group_ends.push_back(static_cast<std::uint32_t>(part.tensors.size()));
        in_group = 0;
      }
      in_group += bytes;
      const bool transposed = tensor->orientation == Orientation::transposed;
      part.tensors.push_back({tensor->extent.offset,
                              static_cast<std::uint32_t>(tensor->cell_bytes()),
                              transposed ? tensor->element_bytes : 0});
      in_cells_[tensor->extent.offset] = tensor->extent.size;
    }
    part.group_ends.push_back(static_cast<std::uint32_t>(part.tensors.size()));
    cut_.recipe.cells.push_back(std::move(part));
    cut_.cell_tensors.push_back(std::move(tensors));
  }

  void add_range(const MapRange& range) {
    const auto in_cells = in_cells_.find(range.offset);
    if (in_cells != in_cells_.end() && in_cells->second == range.size) return;
    if (range.size < own_part_bytes) return add_small(range);
    BytesPart part;
    part.ranges = {{range.offset, range.size}};
    part.block_bytes = range.size >= large_part_bytes ? large_blocks : small_blocks;
    add_part(std::move(part), type_at(range.offset));
  }

  void add_small(const MapRange& range) {
    if (range.size == 0) return;
    if (!small_.ranges.empty() && small_.ranges.back().end() == range.offset)
      small_.ranges.back().size += range.size;
    else
      small_.ranges.push_back({range.offset, range.size});
  }

  // Rows too large for blocks of cells, and outputs, are numbers all the same.
  [[nodiscard]] ContentType type_at(std::uint64_t offset) const {
    if (offset == dump_.outputs.logits.offset || offset == dump_.outputs.embeddings.offset)
      return ElementType::f32;
    const auto found = whole_.find(offset);
    return found == whole_.end() ? ContentType() : found->second;
  }

  void add_part(BytesPart part, ContentType type) {
    cut_.recipe.bytes.push_back(std::move(part));
    cut_.byte_types.push_back(type);
  }

  const Dump& dump_;
  std::vector<MapRange> map_;
  std::map<std::uint64_t, std::uint64_t> sizes_;  // of the map's ranges, by offset
  Cut cut_;
  BytesPart small_;
  std::map<std::uint64_t, std::uint64_t>
      in_cells_;                                // sizes of tensors in blocks of cells, by offset
  std::map<std::uint64_t, ElementType> whole_;  // types of all tensors, by offset
};

}  // namespace

Cut cut(const Dump& dump) { return Cutter(dump).take(); }

}  // namespace kvtool::store
