// Where everything lies in a container: found once, asked often.
#pragma once

#include <cstdint>
#include <vector>

#include "pack/index.h"

namespace kvtool::packing {

// A place in the raw file.
struct RawPlace {
  std::uint32_t section = 0;
  std::uint64_t offset = 0;  // in the section
  std::uint64_t size = 0;    // of what follows in the same range
};

class ContainerMap {
 public:
  explicit ContainerMap(const ContainerFile& container);

  // The place of a byte of the raw file, which must be there.
  [[nodiscard]] RawPlace place_of(std::uint64_t raw_offset) const;
  // The frames of a chunk in the container, and their sizes.
  [[nodiscard]] Extent frames_of(std::uint32_t section, std::uint64_t chunk) const;
  [[nodiscard]] std::span<const std::uint32_t> frame_sizes(std::uint32_t section,
                                                           std::uint64_t chunk) const;
  [[nodiscard]] std::uint64_t hash_of(std::uint32_t section, std::uint64_t chunk) const;

 private:
  struct RangePlace {
    std::uint64_t raw_offset;
    std::uint64_t section_offset;
  };
  struct SectionPlace {
    std::uint64_t first_chunk;
    std::uint64_t first_frame;
    std::uint64_t frames;  // per chunk
  };

  const Index* index_;
  std::vector<RangePlace> ranges_;
  std::vector<SectionPlace> sections_;
  std::vector<std::uint64_t> chunk_offsets_;  // in the container; one more than there are chunks
};

}  // namespace kvtool::packing
