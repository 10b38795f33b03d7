// Sources over bytes that a test keeps: damaged copies are opened by the thousand, so nothing is
// copied to make one.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "kvtool/error.h"
#include "kvtool/source.h"

namespace kvtool::test {

// Looks at bytes that outlive it; seen as a file of just these bytes.
class ViewSource final : public Source {
 public:
  explicit ViewSource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      throw Error(ErrorKind::io, Place{offset, {}}, "read past the end").in_file(name_);
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    count_read(out.size());
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_ = "view";
};

}  // namespace kvtool::test
