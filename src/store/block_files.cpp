#include "store/block_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "kvtool/error.h"

namespace kvtool::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_open_files = 64;
constexpr char suffix[] = ".blocks";
constexpr char unfinished[] = ".new";
// Says what the file is, to people and to `file`.
constexpr std::array<char, 16> magic = {'k', 'v', 't', 'o', 'o', 'l', ' ', 'b',
                                        'l', 'o', 'c', 'k', 's', ' ', '1', '\n'};

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorKind::io, system_message()).in_file(path);
}

std::string path_of(const std::string& folder, std::uint64_t file, const char* end = suffix) {
  return fmt::format("{}/{:016x}{}", folder, file, end);
}

// The number in a file's name; nothing for other files.
bool number_of(const fs::path& path, std::uint64_t& number) {
  const std::string name = path.filename().string();
  if (path.extension() != suffix || name.size() != 16 + std::strlen(suffix)) return false;
  char* end = nullptr;
  number = std::strtoull(name.c_str(), &end, 16);
  return end == name.c_str() + 16;
}

// No two processes, and no two machines, take the same one; SQLite has 63 bits for it.
std::uint64_t fresh_number() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U | random()) >> 1U;
}

void read_all(Disk& disk, int fd, const std::string& path, std::uint64_t offset,
              std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = disk.pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path);
    if (got == 0)
      throw Error(ErrorKind::damaged, Place{offset, "block"}, "the file of blocks ends before it")
          .in_file(path);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

class FileAddition final : public BlockAddition {
 public:
  FileAddition(Disk& disk, std::string folder)
      : disk_(disk),
        folder_(std::move(folder)),
        number_(fresh_number()),
        path_(path_of(folder_, number_, unfinished)) {
    fd_ = disk_.open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ < 0) fail(path_);
    pending_.reserve(most_pending);
    put(std::as_bytes(std::span(magic)));
  }

  ~FileAddition() override {
    if (fd_ >= 0) disk_.close(fd_);
    if (!finished_) disk_.unlink(path_.c_str());
  }
  FileAddition(const FileAddition&) = delete;
  FileAddition& operator=(const FileAddition&) = delete;

  BlockPlace add(std::span<const std::byte> block) override {
    const BlockPlace place{number_, size_, block.size()};
    put(block);
    return place;
  }

  void read(const BlockPlace& place, std::span<std::byte> out) const override {
    const std::uint64_t written = size_ - pending_.size();
    if (place.offset >= written) {
      std::memcpy(out.data(), pending_.data() + (place.offset - written), out.size());
      return;
    }
    const auto in_file =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), written - place.offset));
    read_all(disk_, fd_, path_, place.offset, out.first(in_file));
    std::memcpy(out.data() + in_file, pending_.data(), out.size() - in_file);
  }

  void finish() override {
    flush();
    if (disk_.fsync(fd_) != 0) fail(path_);
    const int fd = std::exchange(fd_, -1);
    if (disk_.close(fd) != 0) fail(path_);
    if (disk_.rename(path_.c_str(), path_of(folder_, number_).c_str()) != 0) fail(path_);
    finished_ = true;
    sync_folder();
  }

 private:
  static constexpr std::size_t most_pending = 1U << 20U;
  static constexpr std::size_t worth_a_write = 256U << 10U;

  void put(std::span<const std::byte> bytes) {
    const bool large = bytes.size() >= worth_a_write;
    if (large || pending_.size() + bytes.size() > most_pending) flush();
    if (large)
      write(bytes);
    else
      pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    size_ += bytes.size();
  }

  void flush() {
    write(pending_);
    pending_.clear();
  }

  void write(std::span<const std::byte> rest) {
    while (!rest.empty()) {
      const ssize_t written = disk_.write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_);
      rest = rest.subspan(static_cast<std::size_t>(written));
    }
  }

  void sync_folder() {
    const int fd = disk_.open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0) fail(folder_);
    const bool synced = disk_.fsync(fd) == 0 || errno == EINVAL;  // some file systems cannot
    if (disk_.close(fd) != 0 || !synced) fail(folder_);
  }

  Disk& disk_;
  std::string folder_;
  std::uint64_t number_;
  std::string path_;
  int fd_ = -1;
  bool finished_ = false;
  std::uint64_t size_ = 0;  // with what is pending
  std::vector<std::byte> pending_;
};

}  // namespace

BlockFiles::~BlockFiles() = default;

std::unique_ptr<BlockAddition> BlockFiles::begin() {
  return std::make_unique<FileAddition>(disk_, folder_);
}

std::shared_ptr<const int> BlockFiles::open_file(std::uint64_t file) const {
  const std::lock_guard lock(mutex_);
  for (auto it = open_.begin(); it != open_.end(); ++it)
    if (it->file == file) {
      open_.splice(open_.begin(), open_, it);
      return it->descriptor;
    }
  const std::string path = path_of(folder_, file);
  const int fd = disk_.open(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) fail(path);
  Disk* const disk = &disk_;
  std::shared_ptr<const int> descriptor(new int(fd), [disk](const int* it) {
    disk->close(*it);
    delete it;
  });
  if (open_.size() >= most_open_files) open_.pop_back();
  open_.push_front({file, descriptor});
  return descriptor;
}

void BlockFiles::read(const BlockPlace& place, std::uint64_t offset,
                      std::span<std::byte> out) const {
  const std::string path = path_of(folder_, place.file);
  if (offset > place.size || out.size() > place.size - offset)
    throw Error(ErrorKind::damaged, Place{place.offset, "block"}, "breaks off").in_file(path);
  read_all(disk_, *open_file(place.file), path, place.offset + offset, out);
}

std::vector<BlockFile> BlockFiles::files() const {
  std::vector<BlockFile> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    BlockFile file;
    if (!number_of(entry.path(), file.file)) continue;
    file.bytes = entry.file_size(error);
    found.push_back(file);
  }
  if (error) throw Error(ErrorKind::io, error.message()).in_file(folder_);
  return found;
}

void BlockFiles::remove(std::uint64_t file) {
  {
    const std::lock_guard lock(mutex_);
    open_.remove_if([&](const OpenFile& it) { return it.file == file; });
  }
  const std::string path = path_of(folder_, file);
  if (disk_.unlink(path.c_str()) != 0 && errno != ENOENT) fail(path);
}

void BlockFiles::remove_unfinished() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    if (entry.path().extension() == unfinished && disk_.unlink(entry.path().c_str()) != 0)
      fail(entry.path().string());
  if (error) throw Error(ErrorKind::io, error.message()).in_file(folder_);
}

}  // namespace kvtool::store
