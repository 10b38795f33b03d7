#include "pack/pieces.h"

#include <algorithm>

namespace kvtool::packing {
namespace {

// Walks over the cells of one channel, or of all rows: [begin, end) in bytes of that column.
class PieceList {
 public:
  PieceList(const BaseTensor& base, const CellMap& map) : base_(base), map_(map) {}

  void add_column(std::uint64_t channel, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t base_begin =
        base_.offset + channel * map_.base_cells * std::uint64_t{base_.cell_bytes};
    auto run = std::partition_point(map_.runs.begin(), map_.runs.end(), [&](const auto& r) {
      return (std::uint64_t{r.cell} + r.count) * base_.cell_bytes <= begin;
    });
    for (; begin < end; ++run) {
      const bool more = run != map_.runs.end();
      const std::uint64_t run_begin = more ? std::uint64_t{run->cell} * base_.cell_bytes : end;
      begin = add(begin, std::min(end, run_begin), std::nullopt);
      if (!more || begin >= end) continue;
      const std::uint64_t run_end =
          (std::uint64_t{run->cell} + run->count) * base_.cell_bytes;
      begin =
          add(begin, std::min(end, run_end),
              base_begin + std::uint64_t{run->base_cell} * base_.cell_bytes + begin - run_begin);
    }
  }
  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  std::uint64_t add(std::uint64_t begin, std::uint64_t end, std::optional<std::uint64_t> offset) {
    if (begin >= end) return begin;
    pieces_.push_back({static_cast<std::uint32_t>(end - begin), offset});
    return end;
  }

  const BaseTensor& base_;
  const CellMap& map_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> pieces_of(const Section& section, const CellMap& map, std::uint64_t chunk) {
  PieceList list(section.base, map);
  const std::uint64_t column = std::uint64_t{map.cells} * section.base.cell_bytes;
  std::uint64_t at = chunk * section.chunk_bytes;
  const std::uint64_t end = at + chunk_size(section, chunk);
  while (at < end) {
    const std::uint64_t channel = at / column;
    const std::uint64_t stop = std::min(end, (channel + 1) * column);
    list.add_column(channel, at - channel * column, stop - channel * column);
    at = stop;
  }
  return list.take();
}

std::size_t compared_bytes(std::span<const Piece> pieces) {
  std::size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.base_offset ? piece.size : 0;
  return bytes;
}

void read_base(std::span<const Piece> pieces, const Source& base, std::vector<std::byte>& out) {
  out.resize(compared_bytes(pieces));
  std::size_t at = 0;
  for (const Piece& piece : pieces) {
    if (!piece.base_offset) continue;
    base.read_at(*piece.base_offset, std::span(out).subspan(at, piece.size));
    at += piece.size;
  }
}

}  // namespace kvtool::packing
