// A dump cut into sections: one for all metadata, and one for each tensor and other large piece.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "pack/container.h"

namespace kvtool::packing {

// What a section is in the dump it comes from.
struct SectionOrigin {
  std::uint64_t offset = 0;        // of its first byte in the file
  const Tensor* tensor = nullptr;  // nullptr: bytes of another kind
  const Stream* stream = nullptr;  // of the tensor
  std::string kind;                // for reports: "f16", "metadata", "other"
};

struct Outline {
  std::vector<Section> sections;       // labels, sizes, shapes; the first is the metadata
  std::vector<SectionOrigin> origins;  // of each section
  std::vector<Range> ranges;           // of the file, in order
};

// Points into `dump`, which must outlive it.
[[nodiscard]] Outline outline_of(const Dump& dump);

// The parts that suit a type; one part where nothing is known to suit.
[[nodiscard]] std::vector<Part> parts_of(ElementType type);

}  // namespace kvtool::packing
