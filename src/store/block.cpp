#include "store/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "kvtool/error.h"
#include "pack/choose.h"
#include "pack/outline.h"

namespace kvtool::store {
namespace {

using namespace packing;

// Small tensors of one row size share a chunk up to this size: a chunk has tables of its own.
constexpr std::uint64_t small_chunk_bytes = 8U << 10U;
// Bytes of a chunk in the head without parts and frames.
constexpr std::size_t least_chunk_head = 4 + 4 + 1 + 1 + 8;

// Tensors [first, end) of a block are one chunk.
struct ChunkSpan {
  std::size_t first = 0;
  std::size_t end = 0;
};

std::vector<ChunkSpan> chunks_of(std::span<const ContentType> types, const BlockShape& shape) {
  std::vector<ChunkSpan> chunks;
  for (std::size_t t = 0; t < shape.row_bytes.size(); ++t) {
    const std::uint64_t bytes = std::uint64_t{shape.row_bytes[t]} * shape.cells;
    const bool joins = t > 0 && shape.row_bytes[t] == shape.row_bytes[t - 1] &&
                       types[t] == types[t - 1] &&
                       bytes * (chunks.back().end - chunks.back().first + 1) <= small_chunk_bytes;
    if (joins)
      ++chunks.back().end;
    else
      chunks.push_back({t, t + 1});
  }
  return chunks;
}

// Parts by type where rows are whole blocks of it.
Section section_for(ContentType type, std::uint32_t row_bytes) {
  Section section;
  section.parts = type ? parts_of(*type) : std::vector<Part>{Part{}};
  if (row_bytes % block_bytes(section) != 0) section.parts = {Part{}};
  return section;
}

void append_chunk(const ChunkHead& chunk, ByteVector& head) {
  append(head, chunk.tensors);
  append(head, chunk.row_bytes);
  append(head, chunk.section.filter);
  append(head, static_cast<std::uint8_t>(chunk.section.parts.size()));
  append(head, chunk.hash);
  for (const Part& part : chunk.section.parts) append(head, part.width);
  for (const std::uint32_t size : chunk.frame_sizes) append(head, size);
}

void read_parts(std::size_t parts, ChunkHead& chunk, ByteReader& in) {
  in.require(parts >= 1 && parts <= most_parts, "parts of a chunk");
  for (std::size_t p = 0; p < parts; ++p)
    chunk.section.parts.push_back({in.take<std::uint16_t>(), {}});
  std::uint64_t block = 0;
  for (const Part& part : chunk.section.parts) {
    in.require(part.width > 0, "a part without bytes");
    block += part.width;
  }
  in.require(chunk.section.size % block == 0, "rows are no whole blocks");
  for (std::size_t p = 0; p < parts; ++p) chunk.frame_sizes.push_back(in.take<std::uint32_t>());
  chunk.packed =
      std::accumulate(chunk.frame_sizes.begin(), chunk.frame_sizes.end(), std::uint64_t{0});
  in.require(chunk.packed <= chunk.section.size, "a chunk is larger packed than raw");
}

ChunkHead read_chunk(std::uint32_t cells, ByteReader& in) {
  ChunkHead chunk;
  chunk.tensors = in.take<std::uint32_t>();
  chunk.row_bytes = in.take<std::uint32_t>();
  const auto filter = in.take<std::uint8_t>();
  in.require(filter <= static_cast<std::uint8_t>(Filter::sign_last_32), "filter of a chunk");
  chunk.section.filter = static_cast<Filter>(filter);
  const auto parts = in.take<std::uint8_t>();
  chunk.hash = in.take<std::uint64_t>();
  const std::uint64_t rows = std::uint64_t{chunk.tensors} * cells;
  in.require(rows > 0 && chunk.row_bytes > 0 && rows <= most_chunk_bytes / chunk.row_bytes,
             "size of a chunk");
  chunk.section.size = rows * chunk.row_bytes;
  chunk.section.chunk_bytes = static_cast<std::uint32_t>(chunk.section.size);
  read_parts(parts, chunk, in);
  return chunk;
}

}  // namespace

std::uint64_t BlockShape::cell_bytes() const {
  return std::accumulate(row_bytes.begin(), row_bytes.end(), std::uint64_t{0});
}

BlockName name_of(std::span<const std::byte> raw) {
  const XXH128_hash_t hash = XXH3_128bits(raw.data(), raw.size());
  return {hash.low64, hash.high64};
}

std::uint64_t beginning_of(const BlockShape& shape, std::span<const std::byte> raw) {
  ByteVector first;
  for (const std::uint32_t row : shape.row_bytes) {
    append(first, raw.first(row));
    raw = raw.subspan(std::size_t{row} * shape.cells);
  }
  return XXH3_64bits(first.data(), first.size());
}

BlockShape BundleHead::shape() const {
  BlockShape shape{cells, {}};
  for (const ChunkHead& chunk : chunks)
    shape.row_bytes.insert(shape.row_bytes.end(), chunk.tensors, chunk.row_bytes);
  return shape;
}

std::uint32_t head_size(std::span<const std::byte> first) {
  return ByteReader(first, "head of a bundle").take<std::uint32_t>();
}

BundleHead read_head(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "head of a bundle");
  in.require(in.take<std::uint32_t>() == bytes.size(), "its size");
  BundleHead head;
  head.cells = in.take<std::uint32_t>();
  std::uint64_t offset = bytes.size();
  std::uint64_t raw = 0;
  for (std::uint32_t c = in.take_count(least_chunk_head); c > 0; --c) {
    head.chunks.push_back(read_chunk(head.cells, in));
    head.chunks.back().offset = offset;
    offset += head.chunks.back().packed;
    raw += head.chunks.back().section.size;
    in.require(raw <= most_bundle_bytes, "more bytes than a bundle can have");
  }
  in.require_end();
  return head;
}

BundlePacker::Coding& BundlePacker::coding_of(std::uint64_t kind, std::size_t chunk,
                                              ContentType type, std::uint32_t row_bytes,
                                              std::span<const std::byte> sample) {
  const auto [at, fresh] = codings_.try_emplace({kind, chunk});
  if (fresh) {
    at->second.section = section_for(type, row_bytes);
    choose_coding(at->second.section, at->second.modes, sample, level_);
  }
  return at->second;
}

void BundlePacker::pack(std::uint64_t kind, std::span<const ContentType> types,
                        const BlockShape& shape, std::span<const std::byte> raw,
                        ByteVector& packed) {
  const std::vector<ChunkSpan> spans = chunks_of(types, shape);
  head_.clear();
  frames_.clear();
  append(head_, shape.cells);
  append(head_, static_cast<std::uint32_t>(spans.size()));
  for (std::size_t c = 0; c < spans.size(); ++c) {
    ChunkHead chunk;
    chunk.tensors = static_cast<std::uint32_t>(spans[c].end - spans[c].first);
    chunk.row_bytes = shape.row_bytes[spans[c].first];
    const std::size_t size = std::size_t{chunk.tensors} * chunk.row_bytes * shape.cells;
    work_.raw.assign(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size));
    raw = raw.subspan(size);
    const Coding& coding = coding_of(kind, c, types[spans[c].first], chunk.row_bytes, work_.raw);
    encode_chunk(coding.section, coding.modes, tools_, work_);
    chunk.section = coding.section;
    chunk.hash = work_.hash;
    chunk.frame_sizes = work_.frame_sizes;
    append_chunk(chunk, head_);
    append(frames_, work_.packed);
  }
  packed.clear();
  append(packed, static_cast<std::uint32_t>(head_size_bytes + head_.size()));
  append(packed, head_);
  append(packed, frames_);
}

const ByteVector& BundleUnpacker::chunk(const ChunkHead& head, std::span<const std::byte> frames) {
  work_.packed.assign(frames.begin(), frames.end());
  work_.frame_sizes = head.frame_sizes;
  work_.hash = head.hash;
  work_.raw.resize(static_cast<std::size_t>(head.section.size));
  if (!decode_chunk(head.section, tools_, work_))
    throw Error(ErrorKind::damaged, "bytes of a bundle do not have their XXH3");
  return work_.raw;
}

BundleHead BundleUnpacker::bundle(std::span<const std::byte> packed, ByteVector& raw) {
  ByteReader in(packed, "bundle");
  in.require(packed.size() >= head_size_bytes && head_size(packed) <= packed.size(), "breaks off");
  BundleHead head = read_head(in.take_bytes(head_size(packed)));
  raw.clear();
  for (const ChunkHead& c : head.chunks) append(raw, chunk(c, in.take_bytes(c.packed)));
  in.require_end();
  return head;
}

bool cells_alike(const RawView& a, std::uint32_t first_a, const RawView& b, std::uint32_t first_b,
                 std::uint32_t count) {
  if (a.shape.row_bytes != b.shape.row_bytes) return false;
  if (std::uint64_t{first_a} + count > a.shape.cells) return false;
  if (std::uint64_t{first_b} + count > b.shape.cells) return false;
  const std::byte* at_a = a.raw.data();
  const std::byte* at_b = b.raw.data();
  for (const std::size_t row : a.shape.row_bytes) {
    if (std::memcmp(at_a + first_a * row, at_b + first_b * row, count * row) != 0) return false;
    at_a += a.shape.cells * row;
    at_b += b.shape.cells * row;
  }
  return true;
}

void append_cells(const RawView& from, std::uint32_t first, std::uint32_t count, ByteVector& out) {
  std::span<const std::byte> raw = from.raw;
  for (const std::size_t row : from.shape.row_bytes) {
    append(out, raw.subspan(first * row, count * row));
    raw = raw.subspan(from.shape.cells * row);
  }
}

}  // namespace kvtool::store
