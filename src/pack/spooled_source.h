// A zstd file that had to be unpacked into a temporary one, which remembers that.
#pragma once

#include <memory>
#include <utility>

#include "kvtool/source.h"

namespace kvtool::packing {

class SpooledSource final : public Source {
 public:
  SpooledSource(std::uint64_t packed_size, std::shared_ptr<const Source> content)
      : packed_size_(packed_size), content_(std::move(content)) {}

  const std::string& name() const override { return content_->name(); }
  std::uint64_t size() const override { return content_->size(); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    content_->read_at(offset, out);
    count_read(out.size());
  }
  int descriptor() const override { return content_->descriptor(); }

  [[nodiscard]] std::uint64_t packed_size() const { return packed_size_; }

 private:
  std::uint64_t packed_size_;
  std::shared_ptr<const Source> content_;
};

}  // namespace kvtool::packing
