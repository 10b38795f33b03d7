// A file of more than 4 GiB that takes no room on the disk: its headers are written by hand, its
// tensors are holes. Opening it must read the headers alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "kvtool/error.h"
#include "kvtool/map.h"
#include "kvtool/open.h"
#include "kvtool/write.h"
#include "support/bytes.h"
#include "support/sound.h"

namespace kvtool::test {
namespace {

constexpr std::uint32_t cells = 4096;
constexpr std::uint32_t layers = 40;
constexpr std::uint64_t row = 16384;  // bytes of a cell's K, and of its V
constexpr std::uint64_t tensor = cells * row;

// Puts headers at their places and leaves holes between them.
class SparseFile {
 public:
  explicit SparseFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600)) {}
  ~SparseFile() { close(descriptor_); }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;

  void put(const Bytes& bytes) {
    const auto size = static_cast<ssize_t>(bytes.size());
    ASSERT_EQ(pwrite(descriptor_, bytes.get().data(), bytes.size(), static_cast<off_t>(at_)), size);
    at_ += bytes.size();
    metadata_ += bytes.size();
  }
  void skip(std::uint64_t size) {
    at_ += size;
    ASSERT_EQ(ftruncate(descriptor_, static_cast<off_t>(at_)), 0);
  }
  std::uint64_t size() const { return at_; }
  std::uint64_t metadata() const { return metadata_; }

 private:
  int descriptor_;
  std::uint64_t at_ = 0;
  std::uint64_t metadata_ = 0;
};

void put_head(SparseFile& file) {
  Bytes head;
  head.text("qsgg").u32(4).u32(cells);
  for (std::uint32_t i = 0; i < cells; ++i) head.u32(i % 300);
  head.u32(1).u32(cells);
  for (std::uint32_t i = 0; i < cells; ++i) head.u32(i).u32(1).u32(0);
  head.u32(0).u32(layers).u32(0).u32(0);
  file.put(head);
}

// A scratch file that goes away with the test.
class SparseDump : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::temp_directory_path() / ("kvtool-" + std::to_string(getpid()))).string();
    SparseFile file(path_);
    put_head(file);
    for (std::uint32_t t = 0; t < 2 * layers; ++t) {
      file.put(Bytes().u32(1).u64(row));
      file.skip(tensor);
    }
    size_ = file.size();
    metadata_ = file.metadata();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
  std::uint64_t size_ = 0;
  std::uint64_t metadata_ = 0;
};

TEST_F(SparseDump, OpeningReadsOnlyMetadata) {
  ASSERT_GT(size_, std::uint64_t{5} << 30U);
  const auto source = open_source(path_);
  const Dump dump = open_dump(source);
  EXPECT_EQ(dump.layout, "ggsq4.streams.rot/kv");
  EXPECT_EQ(source->size(), size_);
  // Each header costs at most a block of the reader's buffer, for each of the few layouts tried.
  const std::uint64_t blocks = (2 * layers + 4) * (std::uint64_t{1} << 14U);
  EXPECT_LE(source->bytes_read(), 4 * (metadata_ + blocks));
  EXPECT_LT(source->bytes_read(), size_ / 500);
  EXPECT_GE(source->bytes_read(), metadata_);
}

TEST_F(SparseDump, OffsetsPastFourGibibytesAreRight) {
  const auto source = open_source(path_);
  const auto dump = std::make_shared<const Dump>(open_dump(source));
  const Stream& stream = dump->state.memories.front().streams.front();
  ASSERT_EQ(stream.layers.size(), layers);
  const Tensor& last = stream.layers.back().v;
  EXPECT_EQ(last.extent, (Extent{size_ - tensor, tensor}));
  const std::uint64_t before = source->bytes_read();
  EXPECT_EQ(flaw_of_map(map_of(*dump), size_), "");
  EXPECT_EQ(size_of(Plan::of(dump)), size_);
  EXPECT_EQ(source->bytes_read(), before) << "map and size read tensors";
}

// One byte less is noticed without reading what is there.
TEST_F(SparseDump, ATruncatedGiantIsRefusedFromItsHeaders) {
  std::filesystem::resize_file(path_, size_ - 1);
  const auto source = open_source(path_);
  try {
    static_cast<void>(open_dump(source));
    FAIL() << "opened";
  } catch (const Error& error) {
    ASSERT_TRUE(error.place());
    EXPECT_EQ(error.place()->offset, size_ - tensor);
  }
  EXPECT_LT(source->bytes_read(), size_ / 100);
}

}  // namespace
}  // namespace kvtool::test
