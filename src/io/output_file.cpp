#include "io/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "kvtool/error.h"

namespace kvtool {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() != std::filesystem::file_type::not_found;
}

// Standard output, a pipe or a device: nothing to name and nothing to take back.
class StreamOutput final : public Output {
 public:
  StreamOutput(Disk& disk, std::string name, int fd)
      : disk_(disk), fd_(fd), writer_(disk, std::move(name)) {}
  ~StreamOutput() override {
    if (fd_ > STDERR_FILENO) disk_.close(fd_);
  }
  StreamOutput(const StreamOutput&) = delete;
  StreamOutput& operator=(const StreamOutput&) = delete;

  void write(std::span<const std::byte> bytes) override { writer_.write(fd_, bytes); }
  void copy(const Source& source, std::uint64_t offset, std::uint64_t size) override {
    const Extent range{offset, size};
    copy_ranges(source, std::span(&range, 1));
  }
  void copy_ranges(const Source& source, std::span<const Extent> ranges) override {
    writer_.copy(fd_, source, ranges);
  }
  void commit() override {}

 private:
  Disk& disk_;
  int fd_;
  DescriptorWriter writer_;
};

// A path that stands for something else than a file, which a rename would replace: /dev/null, a
// named pipe.
bool is_stream(const std::string& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  return type == std::filesystem::file_type::character ||
         type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket;
}

int open_stream(Disk& disk, const std::string& path) {
  const int fd = disk.open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC, 0);
  if (fd < 0) throw Error(ErrorKind::io, system_message()).in_file(path);
  return fd;
}

void require_no_terminal(int fd, const std::string& name) {
  if (::isatty(fd) != 0)
    throw Error(ErrorKind::refused, "binary data is not written to a terminal").in_file(name);
}

}  // namespace

OutputFile::OutputFile(Disk& disk, std::string path, const OutputOptions& options)
    : disk_(disk), path_(std::move(path)), folder_(folder_of(path_)), options_(options),
      writer_(disk, path_, Destination::file) {
  if (!options_.overwrite && exists(path_))
    throw Error(ErrorKind::refused, "exists already; --force replaces it").in_file(path_);
  if (std::filesystem::is_block_file(path_))
    throw Error(ErrorKind::refused, "is a disk").in_file(path_);
  if (std::filesystem::is_directory(path_))
    throw Error(ErrorKind::io, "is a directory").in_file(path_);
  open_unnamed();
  if (fd_ < 0) open_hidden();
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::open_unnamed() {
  if (!exists("/proc/self/fd")) return;  // could not be named later
  fd_ = disk_.open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

void OutputFile::open_hidden() {
  const std::string name = std::filesystem::path(path_).filename().string();
  hidden_ = fmt::format("{}/.{}.kvtool-{}", folder_, name, ::getpid());
  fd_ = disk_.open(hidden_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  hidden_.clear();
  writer_.fail();
}

void OutputFile::copy(const Source& source, std::uint64_t offset, std::uint64_t size) {
  const Extent range{offset, size};
  if (size > 0) writer_.copy(fd_, source, std::span(&range, 1));
}

bool OutputFile::begin_region(std::uint64_t size) {
  const off_t begin = disk_.lseek(fd_, 0, SEEK_CUR);
  if (begin < 0) writer_.fail();
  region_ = {static_cast<std::uint64_t>(begin), size};
  return true;
}

void OutputFile::write_in_region(std::uint64_t offset, std::span<const std::byte> bytes) {
  writer_.write_at(fd_, region_.offset + offset, bytes);
}

void OutputFile::end_region() {
  if (disk_.lseek(fd_, static_cast<off_t>(region_.end()), SEEK_SET) < 0) writer_.fail();
}

void OutputFile::commit() {
  if (disk_.fchmod(fd_, options_.mode) != 0) writer_.fail();
  if (disk_.fsync(fd_) != 0) writer_.fail();
  take_name();
  const int fd = std::exchange(fd_, -1);
  if (disk_.close(fd) != 0) writer_.fail();
  sync_folder();
}

// An unnamed file gets the name at once if nothing may be replaced; otherwise a hidden name first,
// because only a rename replaces a file in one step.
void OutputFile::take_name() {
  const bool unnamed = hidden_.empty();
  if (unnamed && !options_.overwrite) {
    if (disk_.link_unnamed(fd_, path_.c_str()) != 0) writer_.fail();
    return;
  }
  if (unnamed) {
    const std::string name = std::filesystem::path(path_).filename().string();
    const std::string hidden = fmt::format("{}/.{}.kvtool-{}", folder_, name, ::getpid());
    if (disk_.link_unnamed(fd_, hidden.c_str()) != 0) writer_.fail();
    hidden_ = hidden;
  }
  if (disk_.rename(hidden_.c_str(), path_.c_str()) != 0) writer_.fail();
  hidden_.clear();
}

void OutputFile::sync_folder() const {
  const int fd = disk_.open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) writer_.fail();
  const bool synced = disk_.fsync(fd) == 0 || errno == EINVAL;  // some file systems cannot
  const int sync_error = errno;
  const bool closed = disk_.close(fd) == 0;
  if (!synced) errno = sync_error;
  if (!synced || !closed) writer_.fail();
}

void OutputFile::discard() {
  if (fd_ >= 0) disk_.close(fd_);
  if (!hidden_.empty()) disk_.unlink(hidden_.c_str());
}

std::unique_ptr<Output> open_output(const std::string& path, const OutputOptions& options) {
  Disk& disk = Disk::system();
  if (path != "-" && !is_stream(path)) return std::make_unique<OutputFile>(disk, path, options);
  const std::string name = path == "-" ? "<stdout>" : path;
  const int fd = path == "-" ? STDOUT_FILENO : open_stream(disk, path);
  auto output = std::make_unique<StreamOutput>(disk, name, fd);
  require_no_terminal(fd, name);
  return output;
}

}  // namespace kvtool
