#include "pack/container_map.h"

#include <algorithm>

namespace kvtool::packing {

ContainerMap::ContainerMap(const ContainerFile& container) : index_(&container.index) {
  std::uint64_t raw_offset = 0;
  std::vector<std::uint64_t> used(index_->sections.size());
  for (const Range& range : index_->ranges) {
    ranges_.push_back({raw_offset, used[range.section]});
    raw_offset += range.size;
    used[range.section] += range.size;
  }
  std::uint64_t frame = 0;
  std::uint64_t offset = container.frames_offset;
  for (const Section& section : index_->sections) {
    sections_.push_back({chunk_offsets_.size(), frame, frames_per_chunk(section)});
    for (std::uint64_t chunk = 0; chunk < chunk_count(section); ++chunk) {
      chunk_offsets_.push_back(offset);
      for (std::uint64_t i = 0; i < sections_.back().frames; ++i)
        offset += index_->frame_sizes[frame++];
    }
  }
  chunk_offsets_.push_back(offset);
}

RawPlace ContainerMap::place_of(std::uint64_t raw_offset) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), raw_offset,
                       [](std::uint64_t at, const RangePlace& r) { return at < r.raw_offset; });
  const auto i = static_cast<std::size_t>(after - ranges_.begin()) - 1;
  const std::uint64_t inside = raw_offset - ranges_[i].raw_offset;
  return {index_->ranges[i].section, ranges_[i].section_offset + inside,
          index_->ranges[i].size - inside};
}

Extent ContainerMap::frames_of(std::uint32_t section, std::uint64_t chunk) const {
  const std::uint64_t number = sections_[section].first_chunk + chunk;
  return {chunk_offsets_[number], chunk_offsets_[number + 1] - chunk_offsets_[number]};
}

std::span<const std::uint32_t> ContainerMap::frame_sizes(std::uint32_t section,
                                                         std::uint64_t chunk) const {
  const SectionPlace& place = sections_[section];
  return std::span(index_->frame_sizes)
      .subspan(place.first_frame + chunk * place.frames, place.frames);
}

std::uint64_t ContainerMap::hash_of(std::uint32_t section, std::uint64_t chunk) const {
  return index_->chunk_hashes[sections_[section].first_chunk + chunk];
}

}  // namespace kvtool::packing
