// An Output on disk: unnamed (O_TMPFILE) where the file system can, else under a hidden name.
#pragma once

#include <string>

#include "io/descriptor_writer.h"
#include "io/disk.h"
#include "kvtool/output.h"

namespace kvtool {

class OutputFile final : public Output {
 public:
  OutputFile(Disk& disk, std::string path, const OutputOptions& options);
  ~OutputFile() override;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes) override { writer_.write(fd_, bytes); }
  void copy(const Source& source, std::uint64_t offset, std::uint64_t size) override;
  void copy_ranges(const Source& source, std::span<const Extent> ranges) override {
    writer_.copy(fd_, source, ranges);
  }
  bool begin_region(std::uint64_t size) override;
  void write_in_region(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void end_region() override;
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
  Extent region_;              // of the file, between begin_region and end_region
};

}  // namespace kvtool
