// An Output on disk: unnamed (O_TMPFILE) where the file system can, else under a hidden name.
#pragma once

#include <string>

#include "io/disk.h"
#include "kvtool/output.h"

namespace kvtool {

// Writes to a descriptor, with interrupted and short writes taken care of.
class DescriptorWriter {
 public:
  DescriptorWriter(Disk& disk, std::string name) : disk_(disk), name_(std::move(name)) {}

  // Throws Error(io).
  void write(int fd, std::span<const std::byte> bytes);
  // As much of the range as the kernel copies by itself; the answer says how much that was.
  std::uint64_t copy_in_kernel(int fd, const Source& source, std::uint64_t offset,
                               std::uint64_t size);
  [[noreturn]] void fail() const;

 private:
  Disk& disk_;
  std::string name_;
};

class OutputFile final : public Output {
 public:
  OutputFile(Disk& disk, std::string path, const OutputOptions& options);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes) override { writer_.write(fd_, bytes); }
  void copy(const Source& source, std::uint64_t offset, std::uint64_t size) override;
  void commit() override;

 private:
  void open_unnamed();
  void open_hidden();
  void take_name();
  void sync_folder() const;
  void discard();

  Disk& disk_;
  std::string path_;
  std::string folder_;
  std::string hidden_;         // temporary name; empty while the file has none
  OutputOptions options_;
  DescriptorWriter writer_;
  int fd_ = -1;
};

}  // namespace kvtool
