#include "io/descriptor_writer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "kvtool/error.h"
#include "kvtool/write.h"

namespace kvtool {
namespace {

// Bytes of one write. Larger ones make file systems look for large stretches of free memory, which
// took twice as long on ext4; smaller ones pay for their number.
constexpr std::size_t most_at_once = 128U << 10U;
// Ranges from this size on are copied by the kernel on its own, which may share blocks.
constexpr std::uint64_t long_range = most_at_once;
// Mapped pages count as memory of this program; far below 64 MiB leaves room for the rest.
constexpr std::uint64_t most_mapped = 33U << 20U;
// A window is worth its mapping if at least one byte in so many is copied.
constexpr std::uint64_t sparsest = 16;
// As many pieces as Linux takes in one call.
constexpr std::size_t most_pieces = 1024;

// Pages of a source that are never looked at here, only named to the kernel: a file that is cut
// meanwhile makes a write fail and sends no signal.
class Mapping {
 public:
  Mapping(Disk& disk, int fd, const Extent& span)
      : disk_(disk), begin_(span.offset / page() * page()),
        size_(static_cast<std::size_t>(span.end() - begin_)),
        address_(disk.map(fd, static_cast<off_t>(begin_), size_)) {}
  ~Mapping() {
    if (*this) disk_.unmap(address_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  explicit operator bool() const { return address_ != MAP_FAILED; }
  [[nodiscard]] iovec piece(const Extent& range) const {
    return {static_cast<std::byte*>(address_) + (range.offset - begin_),
            static_cast<std::size_t>(range.size)};
  }

 private:
  static std::uint64_t page() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

  Disk& disk_;
  std::uint64_t begin_;
  std::size_t size_;
  void* address_;
};

// A Sink over a writer, for the general way of copying.
class WriterSink final : public Sink {
 public:
  WriterSink(DescriptorWriter& writer, int fd) : writer_(writer), fd_(fd) {}
  void write(std::span<const std::byte> bytes) override { writer_.write(fd_, bytes); }

 private:
  DescriptorWriter& writer_;
  int fd_;
};

Extent joined(const Extent& a, const Extent& b) {
  const std::uint64_t begin = std::min(a.offset, b.offset);
  return {begin, std::max(a.end(), b.end()) - begin};
}

// How many ranges from the front of the list make up one write; at least one.
std::size_t ranges_at_once(std::span<const Extent> ranges) {
  std::size_t count = 1;
  std::uint64_t bytes = ranges.front().size;
  while (count < ranges.size() && count < most_pieces && bytes + ranges[count].size <= most_at_once)
    bytes += ranges[count++].size;
  return count;
}

// Takes `bytes` off the front of a list of pieces.
std::span<iovec> without(std::span<iovec> pieces, std::size_t bytes) {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (bytes > 0) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
  return pieces;
}

}  // namespace

void DescriptorWriter::fail() const {
  throw Error(ErrorKind::io, system_message()).in_file(name_);
}

void DescriptorWriter::write(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = disk_.write(fd, bytes.data(), std::min(bytes.size(), most_at_once));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    written(fd, static_cast<std::uint64_t>(put));
  }
}

void DescriptorWriter::written(int fd, std::uint64_t bytes) {
  if (destination_ == Destination::file) writeback_.advance(fd, bytes);
}

void DescriptorWriter::write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        disk_.pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail();
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void DescriptorWriter::copy(int fd, const Source& source, std::span<const Extent> ranges) {
  if (source.descriptor() < 0) return copy_by_reading(fd, source, ranges);
  if (holes_.any_in(source)) return copy_sparse(fd, source, ranges);
  copy_dense(fd, source, ranges);
}

// Holes are not read; data between them goes on as lists that are as long as can be.
void DescriptorWriter::copy_sparse(int fd, const Source& source, std::span<const Extent> ranges) {
  std::vector<Extent> data;
  std::uint64_t zeros = 0;
  for (Extent range : ranges)
    while (range.size > 0) {
      const Holes::Stretch stretch = holes_.at(source, range.offset);
      const Extent piece{range.offset, std::min(range.size, stretch.end - range.offset)};
      if (stretch.hole) {
        copy_dense(fd, source, std::exchange(data, {}));
        zeros += piece.size;
      } else {
        write_zeros(fd, std::exchange(zeros, 0));
        data.push_back(piece);
      }
      range = {piece.end(), range.size - piece.size};
    }
  copy_dense(fd, source, data);
  write_zeros(fd, zeros);
}

// A hole ends with a written zero, so that it counts at the end of the file, too.
void DescriptorWriter::write_zeros(int fd, std::uint64_t size) {
  static constexpr std::array<std::byte, 64U << 10U> zeros{};
  if (destination_ == Destination::file && size > zeros.size()) {
    if (disk_.lseek(fd, static_cast<off_t>(size - 1), SEEK_CUR) < 0) fail();
    size = 1;
  }
  while (size > 0) {
    const auto piece = std::min<std::uint64_t>(size, zeros.size());
    write(fd, std::span(zeros).first(static_cast<std::size_t>(piece)));
    size -= piece;
  }
}

void DescriptorWriter::copy_dense(int fd, const Source& source, std::span<const Extent> ranges) {
  while (!ranges.empty()) {
    const Window window = next_window(ranges);
    copy_window(fd, source, ranges.first(window.ranges), window);
    ranges = ranges.subspan(window.ranges);
  }
}

// A long range is a window of its own; short ones are taken as long as their span can be mapped.
DescriptorWriter::Window DescriptorWriter::next_window(std::span<const Extent> ranges) {
  Window window{1, ranges.front(), ranges.front().size};
  if (window.bytes >= long_range) return window;
  for (const Extent& range : ranges.subspan(1)) {
    const Extent span = joined(window.span, range);
    if (range.size >= long_range || span.size > most_mapped) break;
    window = {window.ranges + 1, span, window.bytes + range.size};
  }
  return window;
}

void DescriptorWriter::copy_window(int fd, const Source& source, std::span<const Extent> ranges,
                                   const Window& window) {
  if (window.bytes >= long_range && window.ranges == 1)
    return copy_long(fd, source, ranges.front());
  const bool dense = window.ranges > 1 && window.span.size / sparsest <= window.bytes;
  if (dense && copy_mapped(fd, source, ranges, window)) return;
  copy_by_reading(fd, source, ranges);
}

bool DescriptorWriter::copy_mapped(int fd, const Source& source, std::span<const Extent> ranges,
                                   const Window& window) {
  const Mapping mapping(disk_, source.descriptor(), window.span);
  if (!mapping) return false;
  std::vector<iovec> pieces;
  while (!ranges.empty()) {
    const auto now = ranges.first(ranges_at_once(ranges));
    pieces.clear();
    for (const Extent& range : now) pieces.push_back(mapping.piece(range));
    write_pieces(fd, source, pieces);
    ranges = ranges.subspan(now.size());
  }
  require_whole(source, window.span);
  return true;
}

void DescriptorWriter::write_pieces(int fd, const Source& source, std::span<iovec> pieces) {
  while (!(pieces = without(pieces, 0)).empty()) {
    const ssize_t put = disk_.writev(fd, pieces.data(), static_cast<int>(pieces.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EFAULT) fail_mapped(source);
    if (put <= 0) fail();
    pieces = without(pieces, static_cast<std::size_t>(put));
    written(fd, static_cast<std::uint64_t>(put));
  }
}

// The last page of a file that was cut reads as zeros behind the cut, so the size must be asked.
void DescriptorWriter::require_whole(const Source& source, const Extent& span) {
  struct stat status {};
  if (disk_.fstat(source.descriptor(), &status) == 0 &&
      static_cast<std::uint64_t>(status.st_size) >= span.end())
    return;
  fail_mapped(source);
}

void DescriptorWriter::fail_mapped(const Source& source) {
  throw Error(ErrorKind::io, "the file was cut while it was read").in_file(source.name());
}

// What the kernel does not copy by itself is read and written; that also finds out why.
void DescriptorWriter::copy_long(int fd, const Source& source, Extent range) {
  constexpr std::uint64_t step = 8U << 20U;
  while (range.size > 0) {
    off_t from = static_cast<off_t>(range.offset);
    const ssize_t put = disk_.copy_file_range(source.descriptor(), &from, fd,
                                              static_cast<std::size_t>(std::min(step, range.size)));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return copy_by_reading(fd, source, std::span(&range, 1));
    const auto done = static_cast<std::uint64_t>(put);
    written(fd, done);
    range = {range.offset + done, range.size - done};
  }
}

void DescriptorWriter::copy_by_reading(int fd, const Source& source,
                                       std::span<const Extent> ranges) {
  WriterSink(*this, fd).copy_ranges(source, ranges);
}

}  // namespace kvtool
