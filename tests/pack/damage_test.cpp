// Damaged and hostile containers: found, named, and never trusted with memory.
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "kvtool/error.h"
#include "pack/hash.h"
#include "pack/index.h"
#include "pack/packed.h"
#include "pack/packed_source.h"
#include "support/allocation.h"
#include "support/made_dump.h"

namespace kvtool::test {
namespace {

using packing::ContainerFile;

// Chunks of several kinds: planes with columns, stored ones, quants, metadata.
std::shared_ptr<const Dump> mixed_dump() {
  Shape shape;
  shape.cells = 600;
  shape.width = 512;
  shape.v_type = ElementType::q8_0;
  return made_dump(shape);
}

ContainerFile container_of(const ByteVector& bytes) {
  return packing::read_container(*memory_source("packed", bytes));
}

std::uint64_t frames_end(const ContainerFile& file) {
  std::uint64_t end = file.frames_offset;
  for (const std::uint32_t size : file.index.frame_sizes) end += size;
  return end;
}

// The name of the part of a container that a byte belongs to.
std::string part_at(const ByteVector& bytes, std::uint64_t offset) {
  const ContainerFile file = container_of(bytes);
  if (offset < file.frames_offset) return "header";
  if (offset >= bytes.size() - packing::footer_bytes) return "footer";
  if (offset >= frames_end(file)) return "index";
  std::uint64_t end = file.frames_offset;
  std::size_t frame = 0;
  for (const packing::Section& section : file.index.sections) {
    const std::uint64_t frames = chunk_count(section) * frames_per_chunk(section);
    for (std::uint64_t i = 0; i < frames; ++i) end += file.index.frame_sizes[frame++];
    if (offset < end) return section.label;
  }
  return "nothing";
}

Error error_of_unpacking(const ByteVector& bytes, unsigned threads = 1) {
  try {
    const auto source = opened_packed(bytes);
    if (source == nullptr) return Error(ErrorKind::damaged, Place{0, "header"}, "not a container");
    unpacked(*source, threads);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::usage, "no error");
}

// "header.layout" and "header" are both the header.
std::string outer(const std::string& field, const std::string& part) {
  return field.compare(0, part.size(), part) == 0 ? part : field;
}

TEST(Damage, EveryBitFlipIsFoundAndNamed) {
  const ByteVector sound = packed(*mixed_dump());
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t bit = random() % (8 * sound.size());
    ByteVector bytes = sound;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const Error error = error_of_unpacking(bytes, i % 2 == 0 ? 1 : 3);
    ASSERT_EQ(error.kind(), ErrorKind::damaged) << "bit " << bit << ": " << error.what();
    ASSERT_TRUE(error.place()) << error.what();
    const std::string part = part_at(sound, bit / 8);
    EXPECT_EQ(outer(error.place()->field, part), part) << "bit " << bit << ": " << error.what();
  }
}

// Every bit of a small one: also those that zstd itself does not look at.
TEST(Damage, NoBitIsWithoutConsequence) {
  Shape shape;
  shape.cells = 20;
  const ByteVector sound = packed(*made_dump(shape));
  for (std::size_t bit = 0; bit < 8 * sound.size(); ++bit) {
    ByteVector bytes = sound;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const Error error = error_of_unpacking(bytes);
    ASSERT_TRUE(error.kind() == ErrorKind::damaged || error.kind() == ErrorKind::unsupported)
        << "bit " << bit << ": " << error.what();
  }
}

// A direct read gives the right bytes or an error, never wrong ones.
TEST(Damage, DirectReadsNeverGiveWrongBytes) {
  const auto dump = mixed_dump();
  const ByteVector raw = read_all(*dump->source);
  const ByteVector sound = packed(*dump);
  std::mt19937_64 random(2);
  std::size_t found = 0;
  for (int i = 0; i < 100; ++i) {
    ByteVector bytes = sound;
    const std::uint64_t bit = random() % (8 * sound.size());
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    try {
      EXPECT_EQ(read_all(*opened_packed(bytes)), raw);
    } catch (const Error&) {
      ++found;
    }
  }
  EXPECT_GT(found, 95U);
}

TEST(Damage, CutAtEveryLength) {
  Shape shape;
  shape.cells = 20;
  const ByteVector sound = packed(*made_dump(shape));
  for (std::size_t size = 0; size < sound.size(); ++size) {
    const ByteVector cut(sound.begin(), sound.begin() + static_cast<long>(size));
    const Error error = error_of_unpacking(cut);
    ASSERT_EQ(error.kind(), ErrorKind::damaged) << size << ": " << error.what();
  }
  ByteVector longer = sound;
  longer.push_back(std::byte{0});
  EXPECT_EQ(error_of_unpacking(longer).kind(), ErrorKind::damaged);
}

// --- forged: all hashes are right, and what they stand for is not ---

void append(ByteVector& bytes, const ByteVector& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

ByteVector assembled(const packing::Header& header, const ByteVector& frames,
                     const ByteVector& index) {
  ByteVector bytes = packing::encode_header(header);
  append(bytes, frames);
  const ByteVector footer = packing::encode_footer(bytes.size(), index);
  append(bytes, index);
  append(bytes, footer);
  return bytes;
}

ByteVector frames_in(const ByteVector& bytes) {
  const ContainerFile file = container_of(bytes);
  return {bytes.begin() + static_cast<long>(file.frames_offset),
          bytes.begin() + static_cast<long>(frames_end(file))};
}

constexpr std::size_t little = 4U << 20U;

// The index with one byte changed, its hash made right again: whatever it then says, reading ends
// with an error or with bytes, in little memory.
TEST(Forged, AnyByteOfTheIndex) {
  Shape shape;
  shape.cells = 20;
  const ByteVector sound = packed(*made_dump(shape));
  const ContainerFile file = container_of(sound);
  const ByteVector frames = frames_in(sound);
  const ByteVector index = packing::encode_index(file.index);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < index.size(); ++at)
    for (const unsigned change : {0x01U, 0x80U, 0xffU}) {
      ByteVector forged = index;
      forged[at] ^= static_cast<std::byte>(change);
      const ByteVector bytes = assembled(file.header, frames, forged);
      const AllocationMeter meter;
      const Error error = error_of_unpacking(bytes);
      EXPECT_LT(meter.peak(), little) << at;
      refused += error.kind() == ErrorKind::damaged ? 1 : 0;
    }
  // All but the label's letters and the sizes and names of a base that is not used.
  EXPECT_GT(refused, index.size() * 2);
}

TEST(Forged, DeclaredSizesAreNotBelieved) {
  const ByteVector sound = packed(*mixed_dump());
  for (const std::uint64_t size : {std::uint64_t{1} << 60U, ~std::uint64_t{0}}) {
    ContainerFile file = container_of(sound);
    file.header.raw_size = size;
    const ByteVector frames = frames_in(sound);
    const ByteVector alone = assembled(file.header, frames, packing::encode_index(file.index));
    file.index.ranges.back().size += size - container_of(sound).header.raw_size;
    file.index.sections.back().size += size - container_of(sound).header.raw_size;
    const ByteVector both = assembled(file.header, frames, packing::encode_index(file.index));
    const AllocationMeter meter;
    EXPECT_EQ(error_of_unpacking(alone).kind(), ErrorKind::damaged);
    EXPECT_EQ(error_of_unpacking(both).kind(), ErrorKind::damaged);
    EXPECT_LT(meter.peak(), little);
  }
}

// 1 kB that claims to be 10 GB of zeros: each chunk needs its entry in the index.
TEST(Forged, SmallFilesDoNotExpandToLargeOnes) {
  constexpr std::uint64_t size = std::uint64_t{10} << 30U;
  ContainerFile file;
  file.header.raw_size = size;
  packing::Section section;
  section.label = "zeros";
  section.size = size;
  section.chunk_bytes = packing::most_chunk_bytes;
  section.parts = {packing::Part{}};
  file.index.sections = {section};
  file.index.ranges = {{size, 0}};
  ByteVector index = packing::encode_index(file.index);
  index.resize(900);
  const AllocationMeter meter;
  const Error error = error_of_unpacking(assembled(file.header, {}, index));
  EXPECT_LT(meter.peak(), little);
  EXPECT_EQ(error.kind(), ErrorKind::damaged);
  EXPECT_NE(std::string(error.what()).find("chunk_hash: 10240 of 8 bytes each"), std::string::npos)
      << error.what();
  section.chunk_bytes = 1U << 30U;  // fewer, larger chunks are no way around
  file.index.sections = {section};
  EXPECT_EQ(error_of_unpacking(assembled(file.header, {}, packing::encode_index(file.index))).kind(),
            ErrorKind::damaged);
}

// A frame that would unpack to more than its place holds.
TEST(Forged, AFrameIsNoLargerThanItsPlace) {
  const ByteVector sound = packed(*mixed_dump());
  ContainerFile file = container_of(sound);
  ByteVector frames = frames_in(sound);
  const ByteVector zeros(64U << 20U);
  ByteVector bomb(ZSTD_compressBound(zeros.size()));
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
  ASSERT_LT(bomb.size(), file.index.frame_sizes[1] + 0U);
  // the first frame of the second section, whose place begins behind the metadata's only frame
  const std::size_t at = file.index.frame_sizes[0];
  std::copy(bomb.begin(), bomb.end(), frames.begin() + static_cast<long>(at));
  frames.erase(frames.begin() + static_cast<long>(at + bomb.size()),
               frames.begin() + static_cast<long>(at + file.index.frame_sizes[1]));
  file.index.frame_sizes[1] = static_cast<std::uint32_t>(bomb.size());
  const ByteVector bytes = assembled(file.header, frames, packing::encode_index(file.index));
  const AllocationMeter meter;
  const Error error = error_of_unpacking(bytes);
  EXPECT_LT(meter.peak(), 2 * little);
  EXPECT_EQ(error.kind(), ErrorKind::damaged);
  EXPECT_EQ(error.place()->field, file.index.sections[1].label);
}

TEST(Forged, AnUnknownVersionIsSaid) {
  ByteVector bytes = packed(*mixed_dump());
  const std::uint64_t header = container_of(bytes).frames_offset;
  poke<std::uint32_t>(bytes, packing::magic.size(), 2);
  const auto content = std::span(bytes).first(header - 8);
  poke<std::uint64_t>(bytes, header - 8, packing::hash64(content));
  const Error error = error_of_unpacking(bytes);
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.message().find("container version 2 is unknown"), std::string::npos);
}

}  // namespace
}  // namespace kvtool::test
