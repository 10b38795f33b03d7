// What the index of a compressed container (.kvz) says. kvtool-format(5) has the bytes.
//
// The raw file is cut into ranges, each a piece of a section. A section is data of one kind (all
// metadata; one tensor), cut into chunks of equal size, the unit in which it can be read. A chunk
// is taken apart into parts (byte planes, scales, quants) and the parts into groups of columns, and
// each of those is one frame: stored, all zeros, or a zstd frame of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kvtool/dump.h"

namespace kvtool::packing {

// Like PNG's: no text, and whatever translates line ends breaks it.
inline constexpr std::array<unsigned char, 8> magic = {0x89, 'K', 'V', 'Z', '\r', '\n', 0x1a, '\n'};
inline constexpr std::array<unsigned char, 8> end_magic = {'\n', 0x1a, '\n', 'Z', 'V', 'K', '\r',
                                                           0x98};
inline constexpr std::uint32_t container_version = 1;

using ByteVector = std::vector<std::byte>;

// Limits of the format: no reader needs more memory at once, whatever a container claims.
inline constexpr std::uint32_t most_chunk_bytes = 1U << 20U;
inline constexpr std::uint32_t most_block_bytes = 4096;
inline constexpr std::size_t most_parts = 16;
inline constexpr std::size_t most_groups = 64;
inline constexpr std::size_t most_name_bytes = 4096;

inline constexpr std::uint64_t footer_bytes = 40;

// What was done to each element before it was taken apart.
enum class Filter : std::uint8_t {
  none = 0,
  sign_last_16 = 1,  // each 16-bit word turned left by one bit: the exponent fills the high byte
  sign_last_32 = 2,  // the same with 32-bit words
};

// How an element is stored as a difference from the base's.
enum class Difference : std::uint8_t {
  bytes = 0,     // each byte, modulo 256
  words_16 = 1,  // order-preserving integers of 16 bits, zigzag
  words_32 = 2,  // the same with 32 bits
};

// A part's columns (the bytes of one row) in an order that puts like ones together.
struct Columns {
  std::vector<std::uint16_t> order;  // a permutation
  std::vector<std::uint16_t> ends;   // where each group ends in it
  bool operator==(const Columns&) const = default;
};

// `width` consecutive bytes of every block.
struct Part {
  std::uint16_t width = 1;
  Columns columns;  // empty: as they lie, one group
  bool operator==(const Part&) const = default;
};

// Which cells of the base the cells of a stream are compared with.
struct CellMap {
  struct Run {
    std::uint32_t cell = 0;       // first of the stream
    std::uint32_t base_cell = 0;  // first of the base's stream
    std::uint32_t count = 0;
    bool operator==(const Run&) const = default;
  };
  std::uint32_t cells = 0;
  std::uint32_t base_cells = 0;
  std::vector<Run> runs;  // in order of `cell`
};

// Where a section finds what it is compared with.
struct BaseTensor {
  Difference difference = Difference::bytes;
  bool transposed = false;
  std::uint32_t map = 0;         // index into Index::maps
  std::uint32_t cell_bytes = 0;  // of a row, or of an element
  std::uint64_t offset = 0;      // of the tensor in the base
  bool operator==(const BaseTensor&) const = default;
};

struct Section {
  std::string label;            // as `kvtool map` says, or "metadata"
  std::uint64_t size = 0;       // raw bytes
  std::uint32_t chunk_bytes = 0;
  std::uint32_t row_bytes = 0;  // where parts have columns
  Filter filter = Filter::none;
  std::vector<Part> parts;
  bool has_base = false;
  BaseTensor base;
  std::uint64_t packed_hash = 0;  // XXH3 of its frames as they lie in the container
};

// A piece of the raw file.
struct Range {
  std::uint64_t size = 0;
  std::uint32_t section = 0;
};

// The file that differences are differences from.
struct BaseFile {
  std::string name;  // without folders
  std::uint64_t size = 0;
  std::uint64_t hash_low = 0;  // XXH3, 128 bits, of its raw bytes
  std::uint64_t hash_high = 0;
};

struct Header {
  std::uint64_t raw_size = 0;
  std::uint32_t inner_magic = 0;    // 0: a bare state
  std::uint32_t inner_version = 0;
  std::string layout;
};

struct Index {
  std::uint64_t hash_low = 0;  // XXH3, 128 bits, of the raw file
  std::uint64_t hash_high = 0;
  BaseFile base;               // empty name: none
  std::vector<CellMap> maps;
  std::vector<Section> sections;
  std::vector<Range> ranges;
  std::vector<std::uint64_t> chunk_hashes;  // XXH3 of the raw bytes, section by section
  std::vector<std::uint32_t> frame_sizes;   // bytes in the container, chunk by chunk
};

// --- geometry ---

// Bytes of one block: the sum of the parts' widths.
[[nodiscard]] std::uint32_t block_bytes(const Section& section);
[[nodiscard]] std::uint64_t chunk_count(const Section& section);
// Raw bytes of one chunk.
[[nodiscard]] std::uint32_t chunk_size(const Section& section, std::uint64_t chunk);
[[nodiscard]] std::size_t groups_of(const Part& part);
// Frames of each chunk: of the differences, where there is a base, and of everything else.
[[nodiscard]] std::size_t frames_per_chunk(const Section& section);
// Bytes of a part's columns: those of one row.
[[nodiscard]] std::uint64_t columns_of(const Section& section, const Part& part);

}  // namespace kvtool::packing
