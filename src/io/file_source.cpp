#include "io/file_source.h"

#include <cerrno>
#include <utility>

#include "kvtool/error.h"

namespace kvtool {

FileSource::FileSource(Disk& disk, std::string name, int fd)
    : disk_(disk), name_(std::move(name)), fd_(fd) {
  if (disk_.fstat(fd_, &status_) != 0) {
    const std::string why = system_message();
    disk_.close(fd_);
    throw Error(ErrorKind::io, why).in_file(name_);
  }
}

FileSource::~FileSource() { disk_.close(fd_); }

void FileSource::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = disk_.pread(fd_, out.data() + done, out.size() - done,
                                    static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_read(offset + done, got < 0);
    done += static_cast<std::size_t>(got);
  }
  count_read(out.size());
}

void FileSource::require_unchanged() const {
  struct stat now {};
  if (disk_.fstat(fd_, &now) != 0) throw Error(ErrorKind::io, system_message()).in_file(name_);
  const bool same = now.st_size == status_.st_size &&
                    now.st_mtim.tv_sec == status_.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == status_.st_mtim.tv_nsec;
  if (!same) throw Error(ErrorKind::io, "the file changed while it was read").in_file(name_);
}

void FileSource::fail_read(std::uint64_t offset, bool by_system) const {
  const std::string why = by_system ? system_message() : "the file was cut while it was read";
  throw Error(ErrorKind::io, Place{offset, {}}, why).in_file(name_);
}

}  // namespace kvtool
