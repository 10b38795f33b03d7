// Where a source file has holes: ranges of zeros that take no room on the disk.
#pragma once

#include <cstdint>

#include "io/disk.h"
#include "kvtool/source.h"

namespace kvtool {

class Holes {
 public:
  // The rest of a hole, or of what lies between holes.
  struct Stretch {
    bool hole = false;
    std::uint64_t end = 0;
  };

  explicit Holes(Disk& disk) : disk_(disk) {}

  // True if the file behind `source` takes less room than its size. Only then is it worth asking
  // further, since a file system may have to look at every page to say where the next hole is.
  [[nodiscard]] bool any_in(const Source& source);
  // The stretch around `offset`, which must lie inside the source. What was found is remembered.
  [[nodiscard]] Stretch at(const Source& source, std::uint64_t offset);

 private:
  bool is_whole(const Source& source);
  void find(const Source& source, std::uint64_t offset);

  Disk& disk_;
  const Source* source_ = nullptr;  // of the stretch that is known
  std::uint64_t begin_ = 0;
  Stretch known_;
};

}  // namespace kvtool
