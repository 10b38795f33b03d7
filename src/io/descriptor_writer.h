// Writes to a descriptor, with interrupted and short writes taken care of, and copies from sources
// with as little work as the kernel allows.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/disk.h"
#include "io/holes.h"
#include "io/writeback.h"
#include "kvtool/dump.h"
#include "kvtool/source.h"

namespace kvtool {

// What a descriptor stands for.
enum class Destination {
  stream,  // a pipe, or a file that others write to as well
  file,    // a file of our own: it gets the holes of its sources, and the disk is kept busy
};

class DescriptorWriter {
 public:
  // `name` is for messages.
  DescriptorWriter(Disk& disk, std::string name, Destination destination = Destination::stream)
      : disk_(disk), name_(std::move(name)), destination_(destination), holes_(disk),
        writeback_(disk) {}

  // Throws Error(io).
  void write(int fd, std::span<const std::byte> bytes);
  void write_at(int fd, std::uint64_t offset, std::span<const std::byte> bytes);
  // Appends ranges of a source. Throws Error(io).
  void copy(int fd, const Source& source, std::span<const Extent> ranges);

  [[noreturn]] void fail() const;

 private:
  // Consecutive ranges of the list that lie close enough together to be mapped at once.
  struct Window {
    std::size_t ranges = 0;
    Extent span;
    std::uint64_t bytes = 0;  // in the ranges
  };

  void written(int fd, std::uint64_t bytes);
  void copy_sparse(int fd, const Source& source, std::span<const Extent> ranges);
  void copy_dense(int fd, const Source& source, std::span<const Extent> ranges);
  void write_zeros(int fd, std::uint64_t size);
  static Window next_window(std::span<const Extent> ranges);
  void copy_window(int fd, const Source& source, std::span<const Extent> ranges,
                   const Window& window);
  bool copy_mapped(int fd, const Source& source, std::span<const Extent> ranges,
                   const Window& window);
  void write_pieces(int fd, const Source& source, std::span<iovec> pieces);
  void require_whole(const Source& source, const Extent& span);
  [[noreturn]] static void fail_mapped(const Source& source);
  void copy_long(int fd, const Source& source, Extent range);
  void copy_by_reading(int fd, const Source& source, std::span<const Extent> ranges);

  Disk& disk_;
  std::string name_;
  Destination destination_;
  Holes holes_;
  Writeback writeback_;
};

}  // namespace kvtool
