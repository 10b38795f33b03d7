// The operating system's files behind one small interface, so that tests can make any call fail.
// Every function behaves as the system call it is named after: -1 and errno on failure.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <string>

namespace kvtool {

class Disk {
 public:
  virtual ~Disk() = default;

  virtual int open(const char* path, int flags, mode_t mode);
  virtual int close(int fd);
  virtual int fstat(int fd, struct stat* status);
  virtual ssize_t read(int fd, void* buffer, std::size_t size);
  virtual ssize_t pread(int fd, void* buffer, std::size_t size, off_t offset);
  virtual ssize_t write(int fd, const void* buffer, std::size_t size);
  virtual ssize_t pwrite(int fd, const void* buffer, std::size_t size, off_t offset);
  virtual off_t lseek(int fd, off_t offset, int whence);
  virtual ssize_t writev(int fd, const struct iovec* pieces, int count);
  virtual ssize_t copy_file_range(int in, off_t* in_offset, int out, std::size_t size);
  // Maps `size` bytes of a file to be read, with all pages that it has; MAP_FAILED on failure.
  virtual void* map(int fd, off_t offset, std::size_t size);
  virtual int unmap(void* address, std::size_t size);
  // Starts writing a range to the device and does not wait for it; only fsync reports errors.
  virtual void start_writeback(int fd, off_t offset, off_t size);
  virtual int fsync(int fd);
  virtual int fchmod(int fd, mode_t mode);
  virtual int rename(const char* from, const char* to);
  // Gives the unnamed file `fd` (O_TMPFILE) a name that must not exist yet.
  virtual int link_unnamed(int fd, const char* path);
  virtual int unlink(const char* path);

  // The real one.
  static Disk& system();
};

// "No space left on device" and the like, for the current errno.
std::string system_message();

}  // namespace kvtool
