// A Source over an open file descriptor, which it owns.
#pragma once

#include <sys/stat.h>

#include <string>

#include "io/disk.h"
#include "kvtool/source.h"

namespace kvtool {

class FileSource final : public Source {
 public:
  // Takes `fd` over, also when it throws Error(io).
  FileSource(Disk& disk, std::string name, int fd);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return static_cast<std::uint64_t>(status_.st_size); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void require_unchanged() const override;
  int descriptor() const override { return fd_; }
  bool for_threads() const override { return true; }
  unsigned mode() const override { return status_.st_mode & 0777U; }

  bool is_regular() const { return S_ISREG(status_.st_mode); }
  bool is_directory() const { return S_ISDIR(status_.st_mode); }

 private:
  [[noreturn]] void fail_read(std::uint64_t offset, bool by_system) const;

  Disk& disk_;
  std::string name_;
  int fd_;
  struct stat status_ {};
};

}  // namespace kvtool
