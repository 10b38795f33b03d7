#include <algorithm>
#include <stdexcept>
#include <stdexcept>

#include "kvtool/write.h"

namespace kvtool {
namespace {

constexpr std::size_t block_bytes = 1U << 20U;

// Collects short pieces of a source and hands them on in large ones.
class Collector {
 public:
  explicit Collector(Sink& sink) : sink_(sink), block_(block_bytes) {}

  void append(const Source& source, Extent range) {
    while (range.size > 0) {
      if (filled_ == block_.size()) flush();
      const auto piece = static_cast<std::size_t>(
          std::min<std::uint64_t>(range.size, block_.size() - filled_));
      source.read_at(range.offset, std::span(block_).subspan(filled_, piece));
      filled_ += piece;
      range = {range.offset + piece, range.size - piece};
    }
  }

  void flush() {
    if (filled_ > 0) sink_.write(std::span(block_).first(filled_));
    filled_ = 0;
  }

 private:
  Sink& sink_;
  std::vector<std::byte> block_;
  std::size_t filled_ = 0;
};

}  // namespace

void Sink::copy(const Source& source, std::uint64_t offset, std::uint64_t size) {
  const Extent range{offset, size};
  Sink::copy_ranges(source, std::span(&range, 1));
}

void Sink::copy_ranges(const Source& source, std::span<const Extent> ranges) {
  Collector collector(*this);
  for (const Extent& range : ranges) collector.append(source, range);
  collector.flush();
}

bool Sink::begin_region(std::uint64_t /*size*/) { return false; }

void Sink::write_in_region(std::uint64_t /*offset*/, std::span<const std::byte> /*bytes*/) {
  throw std::logic_error("this sink has no regions");
}

void Sink::end_region() {}

}  // namespace kvtool
