#include "io/temporary_file.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "io/file_source.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

[[noreturn]] void fail() { throw Error(ErrorKind::io, "temporary file: " + system_message()); }

}  // namespace

TemporaryFile::TemporaryFile(Disk& disk) : disk_(disk) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = folder != nullptr && *folder != 0 ? folder : "/tmp";
  path += "/kvtool-XXXXXX";
  fd_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) fail();
  disk_.unlink(path.c_str());
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) disk_.close(fd_);
}

void TemporaryFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = disk_.write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void TemporaryFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        disk_.pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail();
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

std::shared_ptr<Source> TemporaryFile::finish(std::string name) {
  return std::make_shared<FileSource>(disk_, std::move(name), std::exchange(fd_, -1));
}

}  // namespace kvtool
