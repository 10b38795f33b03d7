// A file for made dumps, whose holes take no space on disk.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "support/made_dump.h"

namespace kvtool::test {

class MadeFile final : public MadeSink {
 public:
  // Replaces what is at `path`. Every function throws std::runtime_error when the disk fails.
  explicit MadeFile(const std::string& path) : file_(std::fopen(path.c_str(), "wb")) {
    require(file_ != nullptr);
    require(std::setvbuf(file_.get(), nullptr, _IOFBF, 1U << 20U) == 0);
  }

  void write(std::span<const std::byte> bytes) override {
    require(std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size());
  }
  void hole(std::uint64_t size) override {
    if (size == 0) return;
    require(::fseeko(file_.get(), static_cast<off_t>(size - 1), SEEK_CUR) == 0);
    require(std::fputc(0, file_.get()) == 0);  // so that a hole at the end counts, too
  }
  void close() { require(std::fclose(file_.release()) == 0); }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static void require(bool done) {
    if (!done) throw std::runtime_error("the made dump cannot be written");
  }

  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace kvtool::test
