// Where input bytes come from: a file, a pipe, a zstd file, or memory.
//
// A Source is random access, read-only and of a size that does not change. Packed files with an
// index (.kvz, seekable zstd) are unpacked piece by piece as they are read, and checked; pipes and
// other zstd files are spooled to an unlinked temporary file. One thread at a time uses a Source,
// unless it is for_threads(). Sources never map the file, so a file that is cut while it is read is
// an error and not a signal.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvtool {

class Source {
 public:
  virtual ~Source() = default;

  // The name for messages: the path as given, or "<stdin>".
  [[nodiscard]] virtual const std::string& name() const = 0;
  // Size of the decompressed content, bytes.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Fills `out` with the bytes from `offset` on. Throws Error(io) if the file ends before, was
  // changed meanwhile, or cannot be read.
  virtual void read_at(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // How many bytes from `offset` on are as cheap to read as the one there: a reader that reads
  // ahead goes no further. Behind them begins what has to be unpacked on its own.
  [[nodiscard]] virtual std::uint64_t look_ahead(std::uint64_t offset) const {
    return size() - offset;
  }
  // Whether several threads may call read_at at once.
  [[nodiscard]] virtual bool for_threads() const { return false; }
  // Throws Error(io) if the content is known to have changed since it was opened: for a reader
  // that has put together facts from several places.
  virtual void require_unchanged() const {}
  // A file descriptor that holds exactly the content, for copies inside the kernel; -1 if none.
  [[nodiscard]] virtual int descriptor() const { return -1; }
  // Permission bits a rewritten copy should get (0600 for what has none of its own).
  [[nodiscard]] virtual unsigned mode() const { return 0600; }
  // Bytes handed out by read_at so far: what a test of "reads only metadata" counts.
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }

 protected:
  void count_read(std::uint64_t bytes) const {
    bytes_read_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<std::uint64_t> bytes_read_ = 0;
};

// Opens `path` for reading; "-" is standard input. Packed files are unpacked (see kvtool/pack.h).
// Throws Error(io, damaged, unsupported).
[[nodiscard]] std::shared_ptr<Source> open_source(const std::string& path);

// A Source over bytes that the caller made, for tests and for parsing parts held in memory.
[[nodiscard]] std::shared_ptr<Source> memory_source(std::string name,
                                                    std::vector<std::byte> bytes);

}  // namespace kvtool
