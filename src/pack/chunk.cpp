#include "pack/chunk.h"

#include "pack/hash.h"
#include "pack/split.h"
#include "pack/words.h"

namespace kvtool::packing {
namespace {

// Copies the pieces with a base to one end and the others to the other.
void part_pieces(const ChunkData& chunk, ByteVector& compared, ByteVector& plain) {
  compared.clear();
  plain.clear();
  auto at = chunk.raw.begin();
  for (const Piece& piece : chunk.pieces) {
    ByteVector& to = piece.base_offset ? compared : plain;
    to.insert(to.end(), at, at + piece.size);
    at += piece.size;
  }
}

void unite_pieces(const ByteVector& compared, const ByteVector& plain, ChunkData& chunk) {
  auto from_compared = compared.begin();
  auto from_plain = plain.begin();
  auto to = chunk.raw.begin();
  for (const Piece& piece : chunk.pieces) {
    auto& from = piece.base_offset ? from_compared : from_plain;
    to = std::copy(from, from + piece.size, to);
    from += piece.size;
  }
}

// The group's bytes among those of `rows` rows.
template <class Bytes>
auto group_bytes(const Columns& columns, std::size_t group, std::size_t rows, Bytes bytes) {
  const std::size_t begin = group == 0 ? 0 : columns.ends[group - 1];
  return bytes.subspan(begin * rows, (columns.ends[group] - begin) * rows);
}

void encode_part(const Part& part, bool grouped, std::span<const std::byte> bytes, FrameMode mode,
                 ChunkTools& tools, ChunkData& chunk) {
  if (!grouped || part.columns.ends.empty()) {
    chunk.frame_sizes.push_back(tools.maker.append(bytes, mode, chunk.packed));
    return;
  }
  tools.columns.resize(bytes.size());
  gather(part.columns, bytes, tools.columns, tools.scratch);
  const std::size_t rows = bytes.size() / part.columns.order.size();
  for (std::size_t g = 0; g < part.columns.ends.size(); ++g) {
    const auto group =
        group_bytes(part.columns, g, rows, std::span<const std::byte>(tools.columns));
    chunk.frame_sizes.push_back(tools.maker.append(group, mode, chunk.packed));
  }
}

// All parts of blocks. `grouped`: in columns, where the parts have them.
void encode_blocks(const Section& section, bool grouped, const std::vector<FrameMode>& modes,
                   std::span<const std::byte> blocks, ChunkTools& tools, ChunkData& chunk) {
  tools.parts.resize(blocks.size());
  split(section.parts, blocks, tools.parts);
  const std::size_t count = blocks.size() / block_bytes(section);
  std::size_t at = 0;
  for (std::size_t p = 0; p < section.parts.size(); ++p) {
    const std::size_t size = count * section.parts[p].width;
    encode_part(section.parts[p], grouped, std::span(tools.parts).subspan(at, size), modes[p],
                tools, chunk);
    at += size;
  }
}

// Takes the frames of a chunk one by one.
class FrameCursor {
 public:
  explicit FrameCursor(const ChunkData& chunk) : chunk_(chunk) {}

  bool read(ChunkTools& tools, std::span<std::byte> raw) {
    const std::uint32_t size = chunk_.frame_sizes[next_++];
    const auto frame = std::span(chunk_.packed).subspan(at_, size);
    at_ += size;
    return tools.reader.read(frame, raw);
  }

 private:
  const ChunkData& chunk_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
};

bool decode_part(const Part& part, bool grouped, std::span<std::byte> bytes, ChunkTools& tools,
                 FrameCursor& frames) {
  if (!grouped || part.columns.ends.empty()) return frames.read(tools, bytes);
  tools.columns.resize(bytes.size());
  const std::size_t rows = bytes.size() / part.columns.order.size();
  for (std::size_t g = 0; g < part.columns.ends.size(); ++g)
    if (!frames.read(tools, group_bytes(part.columns, g, rows, std::span(tools.columns))))
      return false;
  scatter(part.columns, tools.columns, bytes, tools.scratch);
  return true;
}

bool decode_blocks(const Section& section, bool grouped, std::span<std::byte> blocks,
                   ChunkTools& tools, FrameCursor& frames) {
  tools.parts.resize(blocks.size());
  const std::size_t count = blocks.size() / block_bytes(section);
  std::size_t at = 0;
  for (const Part& part : section.parts) {
    const std::size_t size = count * part.width;
    if (!decode_part(part, grouped, std::span(tools.parts).subspan(at, size), tools, frames))
      return false;
    at += size;
  }
  join(section.parts, tools.parts, blocks);
  return true;
}

bool decode_compared(const Section& section, ChunkTools& tools, ChunkData& chunk,
                     FrameCursor& frames) {
  tools.compared.resize(chunk.base.size());
  tools.plain.resize(chunk.raw.size() - chunk.base.size());
  if (!decode_blocks(section, false, tools.compared, tools, frames) ||
      !decode_blocks(section, true, tools.plain, tools, frames))
    return false;
  add_base(section.base.difference, tools.compared, chunk.base);
  undo_filter(section.filter, tools.plain);
  unite_pieces(tools.compared, tools.plain, chunk);
  return true;
}

}  // namespace

void encode_chunk(const Section& section, const SectionModes& modes, ChunkTools& tools,
                  ChunkData& chunk) {
  chunk.packed.clear();
  chunk.frame_sizes.clear();
  chunk.hash = hash64(chunk.raw);
  if (section.has_base) {
    part_pieces(chunk, tools.compared, tools.plain);
    subtract_base(section.base.difference, tools.compared, chunk.base);
    encode_blocks(section, false, modes.compared, tools.compared, tools, chunk);
  } else if (section.filter == Filter::none) {
    return encode_blocks(section, true, modes.plain, chunk.raw, tools, chunk);
  } else {
    tools.plain = chunk.raw;
  }
  apply_filter(section.filter, tools.plain);
  encode_blocks(section, true, modes.plain, tools.plain, tools, chunk);
}

bool decode_chunk(const Section& section, ChunkTools& tools, ChunkData& chunk) {
  FrameCursor frames(chunk);
  if (section.has_base) {
    if (!decode_compared(section, tools, chunk, frames)) return false;
  } else {
    if (!decode_blocks(section, true, chunk.raw, tools, frames)) return false;
    undo_filter(section.filter, chunk.raw);
  }
  return hash64(chunk.raw) == chunk.hash;
}

}  // namespace kvtool::packing
