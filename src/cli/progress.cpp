#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "cli/print.h"

namespace kvtool::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t copy_step = 64U << 20U;  // so that a long copy moves the bar

}  // namespace

Progress::Progress(std::uint64_t total, bool wanted)
    : total_(total), wanted_(wanted && ::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

void ProgressSink::write(std::span<const std::byte> bytes) {
  sink_.write(bytes);
  progress_.advance(bytes.size());
}

void ProgressSink::copy(const Source& source, std::uint64_t offset, std::uint64_t size) {
  while (size > 0) {
    const std::uint64_t step = progress_.wanted() ? std::min(size, copy_step) : size;
    sink_.copy(source, offset, step);
    progress_.advance(step);
    offset += step;
    size -= step;
  }
}

void ProgressSink::copy_ranges(const Source& source, std::span<const Extent> ranges) {
  sink_.copy_ranges(source, ranges);
  std::uint64_t bytes = 0;
  for (const Extent& range : ranges) bytes += range.size;
  progress_.advance(bytes);
}

bool ProgressSink::begin_region(std::uint64_t size) { return sink_.begin_region(size); }

void ProgressSink::write_in_region(std::uint64_t offset, std::span<const std::byte> bytes) {
  sink_.write_in_region(offset, bytes);
  progress_.advance(bytes.size());
}

void ProgressSink::end_region() { sink_.end_region(); }

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (!wanted_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - begin_ < 1s || now - last_ < 200ms) return;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double share = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done_) / seconds);
  fmt::print(stderr, "\r\x1b[K{:3.0f} %  {} of {}  {}/s", 100 * share, human_bytes(done_),
             human_bytes(total_), human_bytes(rate));
  std::fflush(stderr);
  last_ = now;
  shown_ = true;
}

}  // namespace kvtool::cli
