// A progress bar on a terminal's stderr, only for what takes longer than a second.
#pragma once

#include <chrono>
#include <cstdint>

#include "kvtool/write.h"

namespace kvtool::cli {

// Shows how far something has come.
class Progress {
 public:
  // `total` bytes are expected; nothing is shown unless `wanted` and stderr is a terminal.
  Progress(std::uint64_t total, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t bytes);
  [[nodiscard]] bool wanted() const { return wanted_; }

 private:
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  bool wanted_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

// Passes everything on and shows how far it has come.
class ProgressSink final : public Sink {
 public:
  ProgressSink(Sink& sink, std::uint64_t total, bool wanted)
      : sink_(sink), progress_(total, wanted) {}

  void write(std::span<const std::byte> bytes) override;
  void copy(const Source& source, std::uint64_t offset, std::uint64_t size) override;
  bool begin_region(std::uint64_t size) override;
  void write_in_region(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void end_region() override;
  void copy_ranges(const Source& source, std::span<const Extent> ranges) override;

 private:
  Sink& sink_;
  Progress progress_;
};

}  // namespace kvtool::cli
