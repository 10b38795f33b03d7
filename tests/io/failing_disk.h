// A disk on which one call fails, or every call gives less than it was asked for.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "io/disk.h"

namespace kvtool::test {

class FailingDisk final : public Disk {
 public:
  int failing_call = 0;         // number of the call that fails, from 1; 0: none
  int error = 0;                // its errno
  bool no_unnamed_files = false;
  bool stingy = false;          // short reads and writes, and every third call is interrupted

  [[nodiscard]] int calls() const { return calls_; }
  // Name of the call that failed; empty while none has.
  [[nodiscard]] const std::string& failed() const { return failed_; }
  [[nodiscard]] bool renamed() const { return renamed_; }

  int open(const char* path, int flags, mode_t mode) override {
    if (no_unnamed_files && (flags & O_TMPFILE) == O_TMPFILE) return refuse(EOPNOTSUPP);
    return fails("open") ? -1 : Disk::open(path, flags, mode);
  }
  // Linux closes the descriptor even when it reports an error.
  int close(int fd) override {
    const int result = Disk::close(fd);
    return fails("close") ? -1 : result;
  }
  int fstat(int fd, struct stat* status) override {
    return fails("fstat") ? -1 : Disk::fstat(fd, status);
  }
  ssize_t read(int fd, void* buffer, std::size_t size) override {
    return fails("read") || interrupts() ? -1 : Disk::read(fd, buffer, some(size));
  }
  ssize_t pread(int fd, void* buffer, std::size_t size, off_t offset) override {
    return fails("pread") || interrupts() ? -1 : Disk::pread(fd, buffer, some(size), offset);
  }
  ssize_t write(int fd, const void* buffer, std::size_t size) override {
    return fails("write") || interrupts() ? -1 : Disk::write(fd, buffer, some(size));
  }
  ssize_t pwrite(int fd, const void* buffer, std::size_t size, off_t offset) override {
    return fails("pwrite") || interrupts() ? -1 : Disk::pwrite(fd, buffer, some(size), offset);
  }
  off_t lseek(int fd, off_t offset, int whence) override {
    return fails("lseek") ? -1 : Disk::lseek(fd, offset, whence);
  }
  ssize_t writev(int fd, const struct iovec* pieces, int count) override {
    if (fails("writev") || interrupts()) return -1;
    if (!stingy) return Disk::writev(fd, pieces, count);
    return Disk::write(fd, pieces->iov_base, some(pieces->iov_len));
  }
  ssize_t copy_file_range(int in, off_t* offset, int out, std::size_t size) override {
    if (fails("copy_file_range") || interrupts()) return -1;
    return Disk::copy_file_range(in, offset, out, some(size));
  }
  void* map(int fd, off_t offset, std::size_t size) override {
    return fails("map") ? MAP_FAILED : Disk::map(fd, offset, size);
  }
  int fsync(int fd) override { return fails("fsync") ? -1 : Disk::fsync(fd); }
  int fchmod(int fd, mode_t mode) override {
    return fails("fchmod") ? -1 : Disk::fchmod(fd, mode);
  }
  int rename(const char* from, const char* to) override {
    if (fails("rename")) return -1;
    renamed_ = true;
    return Disk::rename(from, to);
  }
  int link_unnamed(int fd, const char* path) override {
    return fails("link_unnamed") ? -1 : Disk::link_unnamed(fd, path);
  }

 private:
  static int refuse(int why) {
    errno = why;
    return -1;
  }
  bool fails(const char* call) {
    if (++calls_ != failing_call) return false;
    failed_ = call;
    errno = error;
    return true;
  }
  bool interrupts() { return stingy && calls_ % 3 == 0 && refuse(EINTR) < 0; }
  std::size_t some(std::size_t size) const {
    return stingy ? std::max<std::size_t>(1, std::min<std::size_t>(size / 2, 1000)) : size;
  }

  int calls_ = 0;
  std::string failed_;
  bool renamed_ = false;
};

}  // namespace kvtool::test
