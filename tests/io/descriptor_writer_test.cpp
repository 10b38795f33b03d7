// Copies from a source when the system gives less than it was asked for, or nothing at all.
#include "io/descriptor_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>

#include "io/file_source.h"
#include "kvtool/error.h"
#include "support/bytes.h"

namespace kvtool::test {
namespace {

// The real disk, with the trouble that a test asks for.
class TroubledDisk final : public Disk {
 public:
  std::size_t most = 0;         // bytes that a write takes; 0: all
  bool interrupted = false;     // every other call is interrupted by a signal
  bool no_mapping = false;
  bool no_kernel_copy = false;
  int writev_error = 0;
  int mapped = 0;               // calls that worked
  int copied = 0;
  off_t begun = 0;              // bytes sent on their way to the device, from the file's beginning

  void start_writeback(int fd, off_t offset, off_t size) override {
    EXPECT_EQ(offset, begun);
    begun = offset + size;
    Disk::start_writeback(fd, offset, size);
  }
  ssize_t writev(int fd, const struct iovec* pieces, int count) override {
    if (interrupts()) return fail(EINTR);
    if (writev_error != 0) return fail(writev_error);
    if (most == 0) return Disk::writev(fd, pieces, count);
    return Disk::write(fd, pieces->iov_base, std::min(most, pieces->iov_len));
  }
  ssize_t write(int fd, const void* buffer, std::size_t size) override {
    if (interrupts()) return fail(EINTR);
    return Disk::write(fd, buffer, most == 0 ? size : std::min(most, size));
  }
  ssize_t copy_file_range(int in, off_t* offset, int out, std::size_t size) override {
    if (interrupts()) return fail(EINTR);
    if (no_kernel_copy) return fail(EXDEV);
    ++copied;
    return Disk::copy_file_range(in, offset, out, most == 0 ? size : std::min(most * 1000, size));
  }
  void* map(int fd, off_t offset, std::size_t size) override {
    if (no_mapping) return MAP_FAILED;
    ++mapped;
    return Disk::map(fd, offset, size);
  }

 private:
  static ssize_t fail(int error) {
    errno = error;
    return -1;
  }
  bool interrupts() { return interrupted && ++calls_ % 2 == 1; }

  int calls_ = 0;
};

int unnamed_file() {
  std::string name = "/tmp/kvtool-writer-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

class DescriptorWriterTest : public testing::Test {
 protected:
  static constexpr std::size_t size = 3U << 20U;

  DescriptorWriterTest() {
    for (std::size_t i = 0; i < size / 8; ++i) content_.u64(i * 0x9e3779b97f4a7c15U);
    const int fd = unnamed_file();
    EXPECT_EQ(::write(fd, content_.get().data(), size), static_cast<ssize_t>(size));
    source_ = std::make_unique<FileSource>(disk_, "source", fd);
  }
  ~DescriptorWriterTest() override { ::close(out_); }

  void copy() { DescriptorWriter(disk_, "out").copy(out_, *source_, ranges_); }
  // What must have arrived, and what has.
  ByteVector wanted() const {
    Bytes bytes;
    for (const Extent& range : ranges_) {
      const auto begin = content_.get().begin() + static_cast<std::ptrdiff_t>(range.offset);
      bytes.append({begin, begin + static_cast<std::ptrdiff_t>(range.size)});
    }
    return bytes.get();
  }
  ByteVector found() const {
    ByteVector bytes(static_cast<std::size_t>(::lseek(out_, 0, SEEK_END)));
    EXPECT_EQ(::pread(out_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  void expect_copied() {
    copy();
    EXPECT_TRUE(found() == wanted());
  }

  TroubledDisk disk_;
  Bytes content_;
  std::unique_ptr<FileSource> source_;
  int out_ = unnamed_file();
  // Short ones in no order, close together, one of them twice; a long one; the last bytes alone.
  std::vector<Extent> ranges_ = {{5000, 900}, {20, 300},      {9999, 1},    {20, 300},
                                 {4095, 2},   {100, 2U << 20U}, {size - 9, 9}};
};

TEST_F(DescriptorWriterTest, CopiesInsideTheKernel) {
  expect_copied();
  EXPECT_EQ(disk_.mapped, 1);
  EXPECT_GT(disk_.copied, 0);
}

TEST_F(DescriptorWriterTest, GoesOnAfterShortWrites) {
  disk_.most = 7;
  expect_copied();
}

TEST_F(DescriptorWriterTest, GoesOnAfterSignals) {
  disk_.interrupted = true;
  expect_copied();
}

TEST_F(DescriptorWriterTest, ReadsWhereMappingIsImpossible) {
  disk_.no_mapping = true;
  expect_copied();
}

TEST_F(DescriptorWriterTest, ReadsWhereTheKernelDoesNotCopy) {
  disk_.no_kernel_copy = true;
  expect_copied();
}

TEST_F(DescriptorWriterTest, FailsWhenTheDiskIsFull) {
  disk_.writev_error = ENOSPC;
  EXPECT_THROW(copy(), Error);
}

TEST_F(DescriptorWriterTest, SendsAFileToTheDiskOnTheWay) {
  ranges_.assign(10, {0, size});
  DescriptorWriter(disk_, "out", Destination::file).copy(out_, *source_, ranges_);
  EXPECT_TRUE(found() == wanted());
  EXPECT_GT(disk_.begun, 16 << 20);
  disk_.begun = 0;
  DescriptorWriter(disk_, "out", Destination::stream).copy(out_, *source_, ranges_);
  EXPECT_EQ(disk_.begun, 0);
}

std::uint64_t bytes_on_disk(int fd) {
  struct stat status {};
  EXPECT_EQ(::fstat(fd, &status), 0);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// 16 MiB with data at both ends of the first half; the rest is a hole that ends the file.
ByteVector make_holes(int fd) {
  constexpr std::size_t whole = 16U << 20U;
  EXPECT_EQ(::ftruncate(fd, 0), 0);
  EXPECT_EQ(::ftruncate(fd, whole), 0);
  EXPECT_EQ(::pwrite(fd, "begin", 5, 10), 5);
  EXPECT_EQ(::pwrite(fd, "middle", 6, (8U << 20U) - 3), 6);
  ByteVector bytes(whole);
  EXPECT_EQ(::pread(fd, bytes.data(), whole, 0), static_cast<ssize_t>(whole));
  return bytes;
}

TEST_F(DescriptorWriterTest, KeepsOrFillsHoles) {
  const ByteVector bytes = make_holes(source_->descriptor());
  const FileSource sparse(disk_, "sparse", ::dup(source_->descriptor()));
  const std::vector<Extent> ranges = {{0, 100}, {5, 9U << 20U}, {4U << 20U, 12U << 20U}};
  Bytes expected;
  for (const Extent& range : ranges)
    expected.append({bytes.begin() + static_cast<std::ptrdiff_t>(range.offset),
                     bytes.begin() + static_cast<std::ptrdiff_t>(range.end())});
  for (const Destination destination : {Destination::file, Destination::stream}) {
    ASSERT_EQ(::ftruncate(out_, 0), 0);
    ASSERT_EQ(::lseek(out_, 0, SEEK_SET), 0);
    DescriptorWriter(disk_, "out", destination).copy(out_, sparse, ranges);
    EXPECT_TRUE(found() == expected.get());
    EXPECT_EQ(bytes_on_disk(out_) < 1U << 20U, destination == Destination::file);
  }
}

// The file is cut behind its first page: no signal may come of it, and no zeros may be written for
// what is missing.
TEST_F(DescriptorWriterTest, NoticesAFileThatWasCut) {
  for (const off_t cut : {off_t{0}, off_t{4096}, off_t{4200}}) {
    ASSERT_EQ(::ftruncate(source_->descriptor(), cut), 0);
    ranges_ = {{0, 300}, {4200, 400}, {60, 70}};
    try {
      copy();
      FAIL() << "cut at " << cut;
    } catch (const Error& error) {
      EXPECT_EQ(error.file(), "source");
    }
    EXPECT_GT(disk_.mapped, 0);
  }
}

}  // namespace
}  // namespace kvtool::test
