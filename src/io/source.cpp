#include "kvtool/source.h"

#include <fcntl.h>

#include <cstring>
#include <utility>

#include "io/disk.h"
#include "io/file_source.h"
#include "io/spool.h"
#include "kvtool/error.h"
#include "kvtool/pack.h"

namespace kvtool {
namespace {

class MemorySource final : public Source {
 public:
  MemorySource(std::string name, std::vector<std::byte> bytes)
      : name_(std::move(name)), bytes_(std::move(bytes)) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  bool for_threads() const override { return true; }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      throw Error(ErrorKind::io, Place{offset, {}}, "end of data").in_file(name_);
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    count_read(out.size());
  }

 private:
  std::string name_;
  std::vector<std::byte> bytes_;
};

std::shared_ptr<Source> unpacked(std::shared_ptr<Source> source, const BaseOpener& base) {
  if (auto content = open_packed(source, base)) return content;
  return source;
}

}  // namespace

std::shared_ptr<Source> open_source(const std::string& path) { return open_source(path, {}); }

std::shared_ptr<Source> open_source(const std::string& path, const BaseOpener& base) {
  Disk& disk = Disk::system();
  if (path == "-") return unpacked(spool_stdin(disk), base);
  const int fd = disk.open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
  if (fd < 0) throw Error(ErrorKind::io, system_message()).in_file(path);
  auto file = std::make_shared<FileSource>(disk, path, fd);
  if (file->is_directory()) throw Error(ErrorKind::io, "is a directory").in_file(path);
  std::shared_ptr<Source> source = file;
  if (!file->is_regular()) source = spool(disk, *file);
  return unpacked(source, base);
}

std::shared_ptr<Source> memory_source(std::string name, std::vector<std::byte> bytes) {
  return std::make_shared<MemorySource>(std::move(name), std::move(bytes));
}

}  // namespace kvtool
