// A source whose content turns out to have changed while it was read.
#pragma once

#include <memory>
#include <utility>

#include "kvtool/error.h"
#include "kvtool/source.h"

namespace kvtool::test {

class ChangedSource final : public Source {
 public:
  explicit ChangedSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    source_->read_at(offset, out);
  }
  void require_unchanged() const override {
    throw Error(ErrorKind::io, "the file changed while it was read").in_file(name());
  }

 private:
  std::shared_ptr<const Source> source_;
};

}  // namespace kvtool::test
