// A file without a name in the folder for temporary files, gone when its descriptor is closed.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "io/disk.h"
#include "kvtool/source.h"

namespace kvtool {

class TemporaryFile {
 public:
  // In $TMPDIR, or /tmp. Throws Error(io).
  explicit TemporaryFile(Disk& disk);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // At the end, or anywhere. Throw Error(io).
  void append(std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  // Hands the content over to a Source that calls itself `name`.
  [[nodiscard]] std::shared_ptr<Source> finish(std::string name);

 private:
  Disk& disk_;
  int fd_ = -1;
};

}  // namespace kvtool
