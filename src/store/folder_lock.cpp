#include "store/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "io/disk.h"
#include "kvtool/error.h"

namespace kvtool::store {
namespace {

int operation(FolderLock::Kind kind) { return kind == FolderLock::Kind::alone ? LOCK_EX : LOCK_SH; }

}  // namespace

void FolderLock::open(const std::string& path) {
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd_ < 0) throw Error(ErrorKind::io, system_message()).in_file(path);
}

FolderLock::FolderLock(const std::string& path, Kind kind) {
  open(path);
  while (::flock(fd_, operation(kind)) != 0) {
    if (errno == EINTR) continue;
    const std::string message = system_message();
    ::close(fd_);
    throw Error(ErrorKind::io, message).in_file(path);
  }
  held_ = true;
}

FolderLock::FolderLock(const std::string& path, Kind kind, double seconds) {
  using Clock = std::chrono::steady_clock;
  open(path);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    held_ = ::flock(fd_, operation(kind) | LOCK_NB) == 0;
    if (held_ || Clock::now() >= end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kvtool::store
