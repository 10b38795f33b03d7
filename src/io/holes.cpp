#include "io/holes.h"

#include <unistd.h>

#include <cerrno>

namespace kvtool {

bool Holes::any_in(const Source& source) {
  constexpr std::uint64_t block = 512;  // in which st_blocks counts everywhere
  struct stat status {};
  if (source.descriptor() < 0 || disk_.fstat(source.descriptor(), &status) != 0) return false;
  return static_cast<std::uint64_t>(status.st_blocks) * block <
         static_cast<std::uint64_t>(status.st_size);
}

Holes::Stretch Holes::at(const Source& source, std::uint64_t offset) {
  if (&source != source_ || offset < begin_ || offset >= known_.end) find(source, offset);
  return known_;
}

// Behind the end of a file there is nothing either, which is no hole when the file was cut.
bool Holes::is_whole(const Source& source) {
  struct stat status {};
  return disk_.fstat(source.descriptor(), &status) == 0 &&
         static_cast<std::uint64_t>(status.st_size) >= source.size();
}

// A system that cannot say where holes are has none.
void Holes::find(const Source& source, std::uint64_t offset) {
  const int fd = source.descriptor();
  const off_t data = disk_.lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  const bool nothing_behind = data < 0 && errno == ENXIO && is_whole(source);
  const bool hole = nothing_behind || data > static_cast<off_t>(offset);
  off_t end = data;
  if (!hole) end = disk_.lseek(fd, static_cast<off_t>(offset), SEEK_HOLE);
  source_ = &source;
  begin_ = offset;
  known_ = {hole, end > static_cast<off_t>(offset) ? static_cast<std::uint64_t>(end) : source.size()};
}

}  // namespace kvtool
