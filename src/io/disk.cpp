#include "io/disk.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace kvtool {

int Disk::open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }
int Disk::close(int fd) { return ::close(fd); }
int Disk::fstat(int fd, struct stat* status) { return ::fstat(fd, status); }

ssize_t Disk::read(int fd, void* buffer, std::size_t size) { return ::read(fd, buffer, size); }

ssize_t Disk::pread(int fd, void* buffer, std::size_t size, off_t offset) {
  return ::pread(fd, buffer, size, offset);
}

ssize_t Disk::write(int fd, const void* buffer, std::size_t size) {
  return ::write(fd, buffer, size);
}

ssize_t Disk::pwrite(int fd, const void* buffer, std::size_t size, off_t offset) {
  return ::pwrite(fd, buffer, size, offset);
}

off_t Disk::lseek(int fd, off_t offset, int whence) { return ::lseek(fd, offset, whence); }

ssize_t Disk::writev(int fd, const struct iovec* pieces, int count) {
  return ::writev(fd, pieces, count);
}

ssize_t Disk::copy_file_range(int in, off_t* in_offset, int out, std::size_t size) {
  return ::copy_file_range(in, in_offset, out, nullptr, size, 0);
}

void* Disk::map(int fd, off_t offset, std::size_t size) {
  return ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, offset);
}

int Disk::unmap(void* address, std::size_t size) { return ::munmap(address, size); }

void Disk::start_writeback(int fd, off_t offset, off_t size) {
  static_cast<void>(::sync_file_range(fd, offset, size, SYNC_FILE_RANGE_WRITE));
}

int Disk::fsync(int fd) { return ::fsync(fd); }
int Disk::fchmod(int fd, mode_t mode) { return ::fchmod(fd, mode); }
int Disk::rename(const char* from, const char* to) { return ::rename(from, to); }

int Disk::link_unnamed(int fd, const char* path) {
  const std::string self = "/proc/self/fd/" + std::to_string(fd);
  return ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int Disk::unlink(const char* path) { return ::unlink(path); }

Disk& Disk::system() {
  static Disk disk;
  return disk;
}

std::string system_message() { return std::generic_category().message(errno); }

}  // namespace kvtool
