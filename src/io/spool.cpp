#include "io/spool.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "io/temporary_file.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

constexpr std::size_t block_bytes = 1U << 20U;

std::shared_ptr<Source> spool_descriptor(Disk& disk, int fd, const std::string& name) {
  TemporaryFile file(disk);
  std::vector<std::byte> block(block_bytes);
  for (;;) {
    const ssize_t got = disk.read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::io, system_message()).in_file(name);
    if (got == 0) return file.finish(name);
    file.append(std::span(block).first(static_cast<std::size_t>(got)));
  }
}

// Streams zstd frames through fixed buffers, so memory does not depend on what a frame claims.
class ZstdStream {
 public:
  explicit ZstdStream(const std::string& name) : name_(name), stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    ZSTD_initDStream(stream_);
  }
  ~ZstdStream() { ZSTD_freeDStream(stream_); }
  ZstdStream(const ZstdStream&) = delete;
  ZstdStream& operator=(const ZstdStream&) = delete;

  void feed(std::span<const std::byte> packed, TemporaryFile& file) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    bool more = false;  // output that did not fit yet
    while (in.pos < in.size || more) {
      ZSTD_outBuffer out{block_.data(), block_.size(), 0};
      expected_ = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(expected_) != 0) fail(ZSTD_getErrorName(expected_));
      file.append(std::span(block_).first(out.pos));
      more = out.pos == out.size && expected_ != 0;
    }
  }

  void finish() const {
    if (expected_ != 0) fail("the last frame is cut off");
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::damaged, "zstd: " + why).in_file(name_);
  }

  const std::string& name_;
  ZSTD_DStream* stream_;
  std::size_t expected_ = 1;
  std::vector<std::byte> block_ = std::vector<std::byte>(block_bytes);
};

// No zstd block says more than 128 KiB in 4 bytes, so a first frame that declares more than that of
// the whole file lies, and nothing is unpacked for it.
void refuse_impossible_size(const Source& packed) {
  constexpr std::uint64_t most_expansion = 32768;
  std::vector<std::byte> head(static_cast<std::size_t>(
      std::min<std::uint64_t>(packed.size(), 18)));  // as long as a frame header can be
  packed.read_at(0, head);
  const unsigned long long size = ZSTD_getFrameContentSize(head.data(), head.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return;
  if (size / most_expansion > packed.size())
    throw Error(ErrorKind::damaged, Place{0, "zstd"},
                fmt::format("declares {} bytes, which cannot come out of {}", size, packed.size()))
        .in_file(packed.name());
}

}  // namespace

std::shared_ptr<Source> spool_stdin(Disk& disk) {
  return spool_descriptor(disk, STDIN_FILENO, "<stdin>");
}

std::shared_ptr<Source> spool(Disk& disk, const FileSource& file) {
  return spool_descriptor(disk, file.descriptor(), file.name());
}

std::shared_ptr<Source> decompress(Disk& disk, const Source& packed) {
  refuse_impossible_size(packed);
  TemporaryFile file(disk);
  ZstdStream stream(packed.name());
  std::vector<std::byte> block(block_bytes);
  for (std::uint64_t at = 0; at < packed.size();) {
    const std::size_t size =
        static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), packed.size() - at));
    packed.read_at(at, std::span(block).first(size));
    stream.feed(std::span(block).first(size), file);
    at += size;
  }
  stream.finish();
  return file.finish(packed.name());
}

}  // namespace kvtool
