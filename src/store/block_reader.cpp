#include "store/block_reader.h"

#include <algorithm>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

// Read at once for a head: most are shorter.
constexpr std::uint64_t usual_head_bytes = 1024;

void require_size(const BlockPlace& place) {
  // A head and frames, none of which is larger packed than raw.
  if (place.size < head_size_bytes || place.size > 2 * std::uint64_t{most_bundle_bytes})
    throw Error(ErrorKind::damaged, Place{place.offset, "bundle"}, "its size");
}

}  // namespace

const RawBundle& BundleReader::read(const BlockPlace& place) {
  if (place_ == place) return bundle_;
  place_.reset();
  require_size(place);
  packed_.resize(static_cast<std::size_t>(place.size));
  storage_.read(place, 0, packed_);
  bundle_.shape = unpacker_.bundle(packed_, bundle_.raw).shape();
  place_ = place;
  return bundle_;
}

BundleHead read_bundle_head(const BlockStorage& storage, const BlockPlace& place) {
  require_size(place);
  ByteVector bytes(static_cast<std::size_t>(std::min(place.size, usual_head_bytes)));
  storage.read(place, 0, bytes);
  const std::uint32_t size = head_size(bytes);
  if (size > place.size)
    throw Error(ErrorKind::damaged, Place{place.offset, "bundle"}, "breaks off");
  const std::size_t have = bytes.size();
  bytes.resize(size);
  if (size > have) storage.read(place, have, std::span(bytes).subspan(have));
  return read_head(bytes);
}

}  // namespace kvtool::store
