// zstd files that can be read anywhere: independent frames, and behind them a skippable frame with
// a table of their sizes (the "seekable format" of the zstd project).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/source.h"
#include "pack/frame.h"

namespace kvtool::packing {

// A table entry, with where the frame and its content begin.
struct SeekFrame {
  std::uint64_t packed_offset = 0;
  std::uint64_t raw_offset = 0;
  std::uint32_t packed_size = 0;
  std::uint32_t raw_size = 0;
  std::uint32_t checksum = 0;  // low half of the content's XXH64, where the table has them
};

struct SeekTable {
  std::vector<SeekFrame> frames;
  bool has_checksums = false;
  std::uint64_t raw_size = 0;
};

// The table at the end of a zstd file; nothing if there is none, or if it names frames that are too
// large to be read one at a time. Throws Error(damaged) for one that cannot be true.
[[nodiscard]] std::optional<SeekTable> read_seek_table(const Source& packed);

// Appends an entry or the end of a table, for writing one.
void append_seek_entry(const SeekFrame& frame, ByteVector& table);
[[nodiscard]] ByteVector finished_seek_table(const ByteVector& entries);

// A zstd frame with a content checksum and the content's size; one for each thread.
class PlainFrameMaker {
 public:
  explicit PlainFrameMaker(int level);
  void make(std::span<const std::byte> raw, ByteVector& out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

[[nodiscard]] std::uint32_t plain_checksum(std::span<const std::byte> raw);

// The content of such a file.
class SeekableSource final : public Source {
 public:
  SeekableSource(std::shared_ptr<const Source> packed, SeekTable table);

  const std::string& name() const override { return packed_->name(); }
  std::uint64_t size() const override { return table_.raw_size; }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  void require_unchanged() const override { packed_->require_unchanged(); }
  unsigned mode() const override { return packed_->mode(); }

  [[nodiscard]] const Source& packed() const { return *packed_; }

 private:
  struct Kept {
    std::size_t frame;
    ByteVector raw;
  };
  const ByteVector& frame(std::size_t number) const;
  ByteVector unpacked(const SeekFrame& frame) const;

  std::shared_ptr<const Source> packed_;
  SeekTable table_;
  mutable FrameReader reader_;
  mutable std::list<Kept> kept_;  // the last used first
};

}  // namespace kvtool::packing
