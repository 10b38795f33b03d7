#include "io/writeback.h"

#include <unistd.h>

namespace kvtool {

void Writeback::advance(int fd, std::uint64_t bytes) {
  constexpr std::uint64_t step = 8U << 20U;
  waiting_ += bytes;
  if (waiting_ < step) return;
  const off_t end = disk_.lseek(fd, 0, SEEK_CUR);
  if (end > begin_) disk_.start_writeback(fd, begin_, end - begin_);
  begin_ = end;
  waiting_ = 0;
}

}  // namespace kvtool
