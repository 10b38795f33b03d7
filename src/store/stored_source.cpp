#include "store/stored_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kvtool/error.h"
#include "kvtool/tensor.h"

namespace kvtool::store {
namespace {

constexpr std::size_t most_chunk_cache_bytes = 16U << 20U;
constexpr std::uint64_t most_band_bytes = 24U << 20U;

std::size_t group_of(const CellsPart& part, std::size_t tensor) {
  return static_cast<std::size_t>(std::ranges::upper_bound(part.group_ends, tensor) -
                                  part.group_ends.begin());
}

std::size_t first_of_group(const CellsPart& part, std::size_t group) {
  return group == 0 ? 0 : part.group_ends[group - 1];
}

}  // namespace

StoredSource::StoredSource(std::string name, Recipe recipe, Catalogue& catalogue,
                           const BlockStorage& storage, std::shared_ptr<const void> keep_alive)
    : name_(std::move(name)),
      recipe_(std::move(recipe)),
      storage_(storage),
      keep_alive_(std::move(keep_alive)),
      chunks_(most_chunk_cache_bytes) {
  std::vector<BlockId> ids;
  for_each_block(recipe_, [&](const BlockId& id) { ids.push_back(id); });
  const std::vector<BlockRow> rows = catalogue.blocks(ids);
  for (std::size_t i = 0; i < ids.size(); ++i) spots_[ids[i]] = {rows[i].place, rows[i].first};
  add_segments();
  place_cells();
}

void StoredSource::add_segments() {
  for (std::size_t p = 0; p < recipe_.bytes.size(); ++p) {
    std::uint64_t at = 0;
    for (const Extent& range : recipe_.bytes[p].ranges) {
      segments_.push_back({range.offset, range.size, false, p, at});
      at += range.size;
    }
  }
  for (std::size_t p = 0; p < recipe_.cells.size(); ++p) {
    const CellsPart& part = recipe_.cells[p];
    for (std::size_t t = 0; t < part.tensors.size(); ++t)
      segments_.push_back({part.tensors[t].offset,
                           std::uint64_t{part.tensors[t].cell_bytes} * part.cells, true, p, t});
  }
  std::erase_if(segments_, [](const Segment& segment) { return segment.size == 0; });
  std::ranges::sort(segments_, {}, &Segment::offset);
}

void StoredSource::place_cells() {
  for (const CellsPart& part : recipe_.cells) {
    CellPlaces places{std::vector<std::uint32_t>(part.cells),
                      std::vector<std::uint32_t>(part.cells)};
    std::uint32_t at = 0;
    std::uint32_t block = 0;
    for (const CellSpan& span : part.order)
      for (std::uint32_t c = span.first; c < span.first + span.count; ++c, ++at) {
        if (at == part.block_ends[block]) ++block;
        places.block[c] = block;
        places.row[c] = at - (block == 0 ? 0 : part.block_ends[block - 1]);
      }
    cells_.push_back(std::move(places));
  }
}

const StoredSource::Segment& StoredSource::segment_at(std::uint64_t offset) const {
  const auto after = std::ranges::upper_bound(segments_, offset, {}, &Segment::offset);
  return *std::prev(after);
}

std::uint64_t StoredSource::look_ahead(std::uint64_t offset) const {
  if (offset >= size()) return 0;
  const Segment& segment = segment_at(offset);
  return segment.offset + segment.size - offset;
}

void StoredSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size() || out.size() > size() - offset)
    throw Error(ErrorKind::io, Place{offset, {}}, "end of data").in_file(name_);
  count_read(out.size());
  while (!out.empty()) {
    const Segment& segment = segment_at(offset);
    const std::uint64_t at = offset - segment.offset;
    const auto piece =
        out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), segment.size - at)));
    if (!segment.of_cells)
      read_bytes(segment, at, piece);
    else if (recipe_.cells[segment.part].tensors[segment.first].element_bytes == 0)
      read_rows(segment, at, piece);
    else
      read_channels(segment, at, piece);
    out = out.subspan(piece.size());
    offset += piece.size();
  }
}

void StoredSource::fail(const BlockPlace& place, const char* problem) const {
  throw Error(ErrorKind::damaged, Place{place.offset, "bundle"}, problem).in_file(name_);
}

const BundleHead& StoredSource::head_of(const BlockPlace& place) const {
  const auto found = heads_.find(place);
  if (found != heads_.end()) return found->second;
  return heads_.emplace(place, read_bundle_head(storage_, place)).first->second;
}

const ByteVector& StoredSource::chunk_of(const BlockPlace& place, std::size_t chunk) const {
  const std::pair name(place, chunk);
  if (const ByteVector* raw = chunks_.find(name)) return *raw;
  const ChunkHead& head = head_of(place).chunks[chunk];
  ByteVector frames(static_cast<std::size_t>(head.packed));
  storage_.read(place, head.offset, frames);
  try {
    return chunks_.keep(name, unpacker_.chunk(head, frames));
  } catch (const Error& error) {
    throw error.in_file(name_);
  }
}

void StoredSource::read_bytes(const Segment& segment, std::uint64_t at,
                              std::span<std::byte> out) const {
  const BytesPart& part = recipe_.bytes[segment.part];
  at += segment.first;
  while (!out.empty()) {
    const BlockPlace& place =
        spots_.at(part.blocks[static_cast<std::size_t>(at / part.block_bytes)]).place;
    const ByteVector& raw = chunk_of(place, 0);
    const auto inside = static_cast<std::size_t>(at % part.block_bytes);
    if (raw.size() <= inside) fail(place, "is shorter than its entry says");
    const std::size_t now = std::min(out.size(), raw.size() - inside);
    std::memcpy(out.data(), raw.data() + inside, now);
    out = out.subspan(now);
    at += now;
  }
}

StoredSource::Rows StoredSource::rows_of(const Segment& segment, std::size_t block) const {
  const CellsPart& part = recipe_.cells[segment.part];
  const std::size_t group = group_of(part, segment.first);
  const auto& [place, first] = spots_.at(part.block(group, block));
  const BundleHead& head = head_of(place);
  if (first >= head.cells) fail(place, "has fewer cells than its entry says");
  std::size_t tensor = static_cast<std::size_t>(segment.first) - first_of_group(part, group);
  for (std::size_t c = 0; c < head.chunks.size(); ++c) {
    const ChunkHead& chunk = head.chunks[c];
    if (tensor >= chunk.tensors) {
      tensor -= chunk.tensors;
      continue;
    }
    if (chunk.row_bytes != part.tensors[segment.first].cell_bytes) break;
    const std::size_t row = chunk.row_bytes;
    const std::size_t cells = head.cells - first;
    return {std::span(chunk_of(place, c)).subspan((tensor * head.cells + first) * row, cells * row),
            head.cells - first};
  }
  fail(place, "does not hold what its entry says");
}

void StoredSource::read_rows(const Segment& segment, std::uint64_t at,
                             std::span<std::byte> out) const {
  const CellPlaces& cells = cells_[segment.part];
  const std::uint64_t row_bytes = recipe_.cells[segment.part].tensors[segment.first].cell_bytes;
  while (!out.empty()) {
    auto cell = static_cast<std::size_t>(at / row_bytes);
    const std::uint32_t block = cells.block[cell];
    const std::uint32_t row = cells.row[cell];
    // Cells that follow each other in file and block go together.
    std::size_t end = cell + 1;
    while (end < cells.block.size() && cells.block[end] == block &&
           cells.row[end] == row + (end - cell))
      ++end;
    const Rows rows = rows_of(segment, block);
    if (row + (end - cell) > rows.cells) fail({}, "a block has fewer cells than its entry says");
    const std::uint64_t inside = at - cell * row_bytes;
    const auto now = static_cast<std::size_t>(
        std::min<std::uint64_t>(out.size(), (end - cell) * row_bytes - inside));
    std::memcpy(out.data(), rows.bytes.data() + row * row_bytes + inside, now);
    out = out.subspan(now);
    at += now;
  }
}

void StoredSource::read_channels(const Segment& segment, std::uint64_t at,
                                 std::span<std::byte> out) const {
  const CellsPart& part = recipe_.cells[segment.part];
  const CellTensor& tensor = part.tensors[segment.first];
  const std::uint64_t channel_bytes = std::uint64_t{tensor.element_bytes} * part.cells;
  while (!out.empty()) {
    const std::uint64_t channel = at / channel_bytes;
    if (band_.tensor != &tensor || channel < band_.first || channel >= band_.first + band_.count)
      load_band(segment, channel);
    const std::uint64_t inside = at - band_.first * channel_bytes;
    const auto now =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), band_.bytes.size() - inside));
    std::memcpy(out.data(), band_.bytes.data() + inside, now);
    out = out.subspan(now);
    at += now;
  }
}

// Reads every block once for as many channels as a band holds.
void StoredSource::load_band(const Segment& segment, std::uint64_t channel) const {
  const CellsPart& part = recipe_.cells[segment.part];
  const CellTensor& tensor = part.tensors[segment.first];
  const std::uint64_t channels = tensor.cell_bytes / tensor.element_bytes;
  const std::uint64_t channel_bytes = std::uint64_t{tensor.element_bytes} * part.cells;
  band_.tensor = nullptr;
  band_.first = channel;
  band_.count =
      std::min(channels - channel, std::max<std::uint64_t>(1, most_band_bytes / channel_bytes));
  band_.bytes.resize(static_cast<std::size_t>(band_.count * channel_bytes));
  ByteVector turned;
  for (std::size_t b = 0; b < part.block_ends.size(); ++b) turn_block(segment, b, turned);
  band_.tensor = &tensor;
}

// The band's channels of one block's cells, each cell to its place.
void StoredSource::turn_block(const Segment& segment, std::size_t block, ByteVector& turned) const {
  const CellsPart& part = recipe_.cells[segment.part];
  const CellTensor& tensor = part.tensors[segment.first];
  const std::uint32_t begin = block == 0 ? 0 : part.block_ends[block - 1];
  const std::uint32_t count = part.block_ends[block] - begin;
  const Rows rows = rows_of(segment, block);
  if (count > rows.cells) fail({}, "a block has fewer cells than its entry says");
  const std::size_t element = tensor.element_bytes;
  turned.resize(static_cast<std::size_t>(band_.count) * count * element);
  transpose({count, static_cast<std::size_t>(band_.count), element, tensor.cell_bytes,
             count * element},
            rows.bytes.subspan(static_cast<std::size_t>(band_.first) * element), turned);
  std::uint32_t at = 0;  // in the order of the blocks
  for (const CellSpan& span : part.order) {
    const std::uint32_t first = std::max(at, begin);
    const std::uint32_t last = std::min(at + span.count, begin + count);
    for (std::uint64_t c = 0; first < last && c < band_.count; ++c)
      std::memcpy(band_.bytes.data() + (c * part.cells + span.first + (first - at)) * element,
                  turned.data() + (c * count + (first - begin)) * element,
                  (last - first) * element);
    at += span.count;
    if (at >= begin + count) break;
  }
}

}  // namespace kvtool::store
