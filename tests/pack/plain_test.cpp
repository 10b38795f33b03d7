// zstd files with a seek table: made so that any zstd reads them, read anywhere, never trusted.
#include <gtest/gtest.h>
#include <zstd.h>

#include <random>

#include "kvtool/error.h"
#include "pack/packed.h"
#include "support/allocation.h"

namespace kvtool::test {
namespace {

ByteVector content(std::size_t size) {
  std::mt19937 random(5);
  Bytes bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.u8(random() % 17);
  return bytes.get();
}

ByteVector plain(const ByteVector& raw, unsigned threads = 1, int level = 1) {
  MemorySink sink;
  PackOptions options;
  options.threads = threads;
  options.level = level;
  pack_plain(*memory_source("raw", raw), sink, options);
  return sink.bytes();
}

// As `zstd -d` does it: all frames one after another, skippable ones without content.
ByteVector by_zstd(const ByteVector& packed, std::size_t size) {
  ByteVector raw(size);
  EXPECT_EQ(ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()), size);
  return raw;
}

TEST(Plain, ZstdReadsIt) {
  for (const std::size_t size : {0U, 1U, 1000U, 262144U, 262145U, 1500000U}) {
    const ByteVector raw = content(size);
    const ByteVector bytes = plain(raw);
    EXPECT_EQ(by_zstd(bytes, size), raw) << size;
    EXPECT_EQ(plain(raw, 4), bytes);
    const auto source = opened_packed(bytes);
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(unpacked(*source), raw);
    EXPECT_EQ(packing_of(*source)->form, PackingForm::seekable);
  }
}

// The last bytes as the zstd project's description of the format has them.
TEST(Plain, TheTableIsTheStandardOne) {
  const ByteVector bytes = plain(content(300000));
  const std::size_t end = bytes.size();
  EXPECT_EQ(peek<std::uint32_t>(bytes, end - 4), 0x8F92EAB1U);
  EXPECT_EQ(peek<std::uint8_t>(bytes, end - 5), 0x80);
  EXPECT_EQ(peek<std::uint32_t>(bytes, end - 9), 2U);
  const std::size_t table = end - 9 - 2 * 12 - 8;
  EXPECT_EQ(peek<std::uint32_t>(bytes, table), 0x184D2A5EU);
  EXPECT_EQ(peek<std::uint32_t>(bytes, table + 4), 2 * 12 + 9U);
  EXPECT_EQ(peek<std::uint32_t>(bytes, table + 12), 262144U);
  EXPECT_EQ(peek<std::uint32_t>(bytes, table + 24), 300000U - 262144U);
  EXPECT_EQ(peek<std::uint32_t>(bytes, table + 8) + peek<std::uint32_t>(bytes, table + 20), table);
}

TEST(Plain, ReadsOnlyTheFramesAskedFor) {
  const ByteVector raw = content(4U << 20U);
  const auto file = memory_source("packed", plain(raw));
  const auto source = open_packed(file);
  const std::uint64_t before = file->bytes_read();
  ByteVector piece(1000);
  source->read_at(3U << 20U, piece);
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), raw.begin() + (3 << 20)));
  EXPECT_LE(file->bytes_read() - before, 262144U);
}

// A flip is found, or it is one that changes nothing of what comes out.
TEST(Plain, FlipsAreFound) {
  const ByteVector raw = content(600000);
  const ByteVector sound = plain(raw);
  std::mt19937_64 random(3);
  std::size_t found = 0;
  for (int i = 0; i < 200; ++i) {
    ByteVector bytes = sound;
    // every other one in the table
    const std::size_t from = i % 2 == 0 ? 0 : sound.size() - 53;
    const std::size_t at = from + random() % (sound.size() - from);
    bytes[at] ^= static_cast<std::byte>(1U << random() % 8);
    try {
      const auto source = opened_packed(bytes);
      if (source == nullptr) continue;  // no longer zstd by its first byte
      EXPECT_EQ(unpacked(*source), raw) << at;
    } catch (const Error&) {
      ++found;
    }
  }
  EXPECT_GT(found, 180U);
}

TEST(Plain, CutAtEveryLength) {
  const ByteVector sound = plain(content(2000));
  for (std::size_t size = 4; size < sound.size(); ++size) {
    const ByteVector cut(sound.begin(), sound.begin() + static_cast<long>(size));
    try {
      // Without its table it is a zstd file like any other, whole if only the table is missing.
      const auto source = opened_packed(cut);
      EXPECT_EQ(packing_of(*source)->form, PackingForm::zstd);
      EXPECT_EQ(unpacked(*source), content(2000)) << size;
      EXPECT_EQ(size, sound.size() - 9 - 12 - 8);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::damaged);
    }
  }
}

// --- tables that lie ---

ByteVector with_table(ByteVector frames, std::uint32_t count, std::uint32_t packed_size,
                      std::uint32_t raw_size) {
  Bytes table;
  table.u32(0x184D2A5E).u32(count * 8 + 9);
  for (std::uint32_t i = 0; i < count; ++i) table.u32(packed_size).u32(raw_size);
  table.u32(count).u8(0).u32(0x8F92EAB1);
  const ByteVector bytes = table.get();
  frames.insert(frames.end(), bytes.begin(), bytes.end());
  return frames;
}

ByteVector frame_of(const ByteVector& raw) {
  ByteVector frame(ZSTD_compressBound(raw.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 1));
  return frame;
}

std::string error_of(const ByteVector& bytes) {
  const AllocationMeter meter;
  std::string what = "no error";
  try {
    unpacked(*opened_packed(bytes));
  } catch (const Error& error) {
    what = error.what();
  }
  EXPECT_LT(meter.peak(), 8U << 20U);
  return what;
}

TEST(ForgedTable, SizesAreNotBelieved) {
  const ByteVector frame = frame_of(content(1000));
  const auto size = static_cast<std::uint32_t>(frame.size());
  EXPECT_EQ(error_of(with_table(frame, 1, size, 1000)), "no error");
  EXPECT_NE(error_of(with_table(frame, 1, size, 1001)).find("is damaged"), std::string::npos);
  EXPECT_NE(error_of(with_table(frame, 1, size - 1, 1000)).find("names"), std::string::npos);
  EXPECT_NE(error_of(with_table(frame, 1, size, 0)).find("is said to be empty"), std::string::npos);
  EXPECT_NE(error_of(with_table(frame, 2, size, 1000)).find("beyond"), std::string::npos);
  EXPECT_NE(error_of(with_table(frame, 1, 20, 0xffffffffU)).find("cannot come out of 20"),
            std::string::npos);
  ByteVector many = with_table(frame, 1, size, 1000);
  poke<std::uint32_t>(many, many.size() - 9, 0xffffffffU);
  EXPECT_NE(error_of(many).find("need a table of"), std::string::npos);
}

// 1 kB of zstd that says it holds 2^60 bytes, and one that says 10 GB.
TEST(ForgedFrame, DeclaredSizesAreNotBelieved) {
  for (const std::uint64_t size : {std::uint64_t{1} << 60U, std::uint64_t{10} << 30U}) {
    Bytes bytes;
    bytes.u32(0xFD2FB528).u8(0xe0).u64(size).filler(1000);
    const std::string error = error_of(bytes.get());
    EXPECT_NE(error.find("cannot come out of"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace kvtool::test
