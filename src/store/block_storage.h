// Where packed blocks lie. Small on purpose: an engine that several machines share has to offer no
// more than this.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace kvtool::store {

// A packed bundle of blocks: bytes of one file of blocks.
struct BlockPlace {
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  bool operator==(const BlockPlace&) const = default;
  auto operator<=>(const BlockPlace&) const = default;
};

// Bundles that are being added. They last from finish() on; without it they vanish.
class BlockAddition {
 public:
  virtual ~BlockAddition() = default;
  // Throws Error(io).
  virtual BlockPlace add(std::span<const std::byte> bundle) = 0;
  // A bundle that was added here.
  virtual void read(const BlockPlace& place, std::span<std::byte> out) const = 0;
  // Makes the bundles last, whatever happens to the machine. Throws Error(io).
  virtual void finish() = 0;
};

struct BlockFile {
  std::uint64_t file = 0;
  std::uint64_t bytes = 0;
};

class BlockStorage {
 public:
  virtual ~BlockStorage() = default;
  [[nodiscard]] virtual std::unique_ptr<BlockAddition> begin() = 0;
  // Bytes of a bundle from `offset` on, which must all be there. Several threads may call it at
  // once. Throws Error(io, damaged).
  virtual void read(const BlockPlace& place, std::uint64_t offset,
                    std::span<std::byte> out) const = 0;
  // All files whose bundles last.
  [[nodiscard]] virtual std::vector<BlockFile> files() const = 0;
  // For whoever is alone with the storage:
  virtual void remove(std::uint64_t file) = 0;
  virtual void remove_unfinished() = 0;
};

}  // namespace kvtool::store
