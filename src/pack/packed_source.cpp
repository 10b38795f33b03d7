#include "pack/packed_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kvtool/error.h"
#include "pack/base_file.h"

namespace kvtool::packing {
namespace {

// A base can be a container with a base; a forged one could name itself.
class DepthGuard {
 public:
  explicit DepthGuard(const std::string& name) {
    if (++depth > most) {
      --depth;
      throw Error(ErrorKind::refused, fmt::format("more than {} bases of bases", most))
          .in_file(name);
    }
  }
  ~DepthGuard() { --depth; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  static constexpr int most = 8;
  static thread_local int depth;
};
thread_local int DepthGuard::depth = 0;

ContainerFile read_named(const Source& packed) {
  try {
    return read_container(packed);
  } catch (const Error& error) {
    throw error.in_file(packed.name());
  }
}

}  // namespace

PackedSource::PackedSource(std::shared_ptr<const Source> packed, BaseOpener open_base)
    : packed_(std::move(packed)), open_base_(std::move(open_base)),
      container_(read_named(*packed_)), map_(container_) {}

void PackedSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size() || out.size() > size() - offset)
    throw Error(ErrorKind::io, Place{offset, {}}, "end of data").in_file(name());
  count_read(out.size());
  while (!out.empty()) {
    const RawPlace place = map_.place_of(offset);
    const std::uint32_t chunk_bytes = container_.index.sections[place.section].chunk_bytes;
    const ByteVector& raw = chunk(place.section, place.offset / chunk_bytes);
    const auto inside = static_cast<std::size_t>(place.offset % chunk_bytes);
    const std::size_t size = std::min({out.size(), raw.size() - inside,
                                       static_cast<std::size_t>(place.size)});
    std::memcpy(out.data(), raw.data() + inside, size);
    out = out.subspan(size);
    offset += size;
  }
}

std::uint64_t PackedSource::look_ahead(std::uint64_t offset) const {
  return offset < size() ? map_.place_of(offset).size : 0;
}

const ByteVector& PackedSource::chunk(std::uint32_t section, std::uint64_t chunk) const {
  const ChunkName name = std::uint64_t{section} << 40U | chunk;
  if (const ByteVector* raw = kept_.find(name)) return *raw;
  load(section, chunk, work_);
  if (!decode_chunk(container_.index.sections[section], tools_, work_)) fail(section, chunk);
  return kept_.keep(name, std::exchange(work_.raw, {}));
}

void PackedSource::load(std::uint32_t section, std::uint64_t chunk, ChunkData& data) const {
  const Section& s = container_.index.sections[section];
  const Extent frames = map_.frames_of(section, chunk);
  const auto sizes = map_.frame_sizes(section, chunk);
  // A frame is never larger than what it stands for; that bounds what is allocated.
  if (frames.size > s.chunk_bytes) fail(section, chunk);
  data.packed.resize(static_cast<std::size_t>(frames.size));
  packed_->read_at(frames.offset, data.packed);
  data.frame_sizes.assign(sizes.begin(), sizes.end());
  data.hash = map_.hash_of(section, chunk);
  data.raw.resize(chunk_size(s, chunk));
  data.pieces.clear();
  data.base.clear();
  if (!s.has_base) return;
  data.pieces = pieces_of(s, container_.index.maps[s.base.map], chunk);
  if (compared_bytes(data.pieces) == 0) return;
  const DepthGuard guard(name());
  read_base(data.pieces, base(), data.base);
}

void PackedSource::fail(std::uint32_t section, std::uint64_t chunk) const {
  const Section& s = container_.index.sections[section];
  throw Error(ErrorKind::damaged,
              Place{map_.frames_of(section, chunk).offset, s.label},
              fmt::format("bytes {} to {} of it do not have their XXH3: the packed file is damaged",
                          chunk * s.chunk_bytes, chunk * s.chunk_bytes + chunk_size(s, chunk) - 1))
      .in_file(name());
}

const Source& PackedSource::base() const {
  if (!base_) base_ = checked_base(container_.index.base, open_base_, *packed_);
  return *base_;
}

}  // namespace kvtool::packing
