// Keeps the disk busy while a file is being written, so that the sync at its end finds little to do.
#pragma once

#include <cstdint>

#include "io/disk.h"

namespace kvtool {

class Writeback {
 public:
  explicit Writeback(Disk& disk) : disk_(disk) {}

  // `bytes` more have been written at the file's position.
  void advance(int fd, std::uint64_t bytes);

 private:
  Disk& disk_;
  std::uint64_t waiting_ = 0;  // bytes since the last start
  off_t begin_ = 0;            // where they begin
};

}  // namespace kvtool
