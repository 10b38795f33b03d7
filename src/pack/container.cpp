#include "pack/container.h"

#include <algorithm>

namespace kvtool::packing {

std::uint32_t block_bytes(const Section& section) {
  std::uint32_t bytes = 0;
  for (const Part& part : section.parts) bytes += part.width;
  return bytes;
}

std::uint64_t chunk_count(const Section& section) {
  return section.size / section.chunk_bytes + (section.size % section.chunk_bytes != 0 ? 1 : 0);
}

std::uint32_t chunk_size(const Section& section, std::uint64_t chunk) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      section.chunk_bytes, section.size - chunk * section.chunk_bytes));
}

std::size_t groups_of(const Part& part) {
  return part.columns.ends.empty() ? 1 : part.columns.ends.size();
}

std::size_t frames_per_chunk(const Section& section) {
  std::size_t frames = section.has_base ? section.parts.size() : 0;
  for (const Part& part : section.parts) frames += groups_of(part);
  return frames;
}

std::uint64_t columns_of(const Section& section, const Part& part) {
  return std::uint64_t{section.row_bytes} / block_bytes(section) * part.width;
}

}  // namespace kvtool::packing
