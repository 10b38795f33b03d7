// A store in a folder of its own, gone with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "kvtool/store.h"
#include "support/bytes.h"
#include "support/made_dump.h"

namespace kvtool::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kvtool-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class StoreFolder {
 public:
  explicit StoreFolder(std::optional<std::uint64_t> budget = std::nullopt) {
    Store::init(path(), budget);
  }
  [[nodiscard]] std::string path() const { return (folder_.path() / "store").string(); }
  [[nodiscard]] Store open() const { return Store(path()); }
  // Bytes of all files of blocks.
  [[nodiscard]] std::uint64_t block_bytes() const { return open().sizes().block_bytes; }

 private:
  TemporaryFolder folder_;
};

// A slot file of one conversation; rows of `width` elements.
inline Shape slot_shape(std::uint32_t cells, std::uint32_t width, std::uint64_t seed = 1) {
  Shape shape;
  shape.container = Container::slot;
  shape.version = 4;
  shape.cells = cells;
  shape.width = width;
  shape.seed = seed;
  return shape;
}

inline ByteVector all_of(const Source& source) {
  ByteVector bytes(static_cast<std::size_t>(source.size()));
  source.read_at(0, bytes);
  return bytes;
}

}  // namespace kvtool::test
