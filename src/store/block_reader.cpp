#include "store/block_reader.h"

#include <algorithm>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

// Read at once for a head: most are shorter.
constexpr std::uint64_t usual_head_bytes = 1024;

void require_size(const BlockPlace& place) {
  // A head and frames, none of which is larger packed than raw.
  if (place.size < head_size_bytes || place.size > 2 * std::uint64_t{most_block_bytes})
    throw Error(ErrorKind::damaged, Place{place.offset, "block"}, "its size");
}

}  // namespace

const RawBlock& BlockReader::read(const BlockPlace& place) {
  require_size(place);
  packed_.resize(static_cast<std::size_t>(place.size));
  storage_.read(place, 0, packed_);
  block_.shape = unpacker_.block(packed_, block_.raw).shape();
  return block_;
}

BlockHead read_block_head(const BlockStorage& storage, const BlockPlace& place) {
  require_size(place);
  ByteVector bytes(static_cast<std::size_t>(std::min(place.size, usual_head_bytes)));
  storage.read(place, 0, bytes);
  const std::uint32_t size = head_size(bytes);
  if (size > place.size)
    throw Error(ErrorKind::damaged, Place{place.offset, "block"}, "breaks off");
  const std::size_t have = bytes.size();
  bytes.resize(size);
  if (size > have) storage.read(place, have, std::span(bytes).subspan(have));
  return read_head(bytes);
}

RawBlock first_cells(const RawBlock& block, std::uint32_t cells) {
  RawBlock first{{cells, block.shape.row_bytes}, {}};
  std::span<const std::byte> raw = block.raw;
  for (const std::uint32_t row : block.shape.row_bytes) {
    append(first.raw, raw.first(std::size_t{row} * cells));
    raw = raw.subspan(std::size_t{row} * block.shape.cells);
  }
  return first;
}

}  // namespace kvtool::store
