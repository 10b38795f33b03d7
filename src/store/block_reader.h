// Packed bundles read back.
#pragma once

#include <optional>

#include "store/block.h"
#include "store/block_storage.h"

namespace kvtool::store {

// A bundle with its raw bytes.
struct RawBundle {
  BlockShape shape;
  ByteVector raw;

  [[nodiscard]] RawView view() const { return {shape, raw}; }
};

// Reads bundles whole, one after another in the same memory.
class BundleReader {
 public:
  explicit BundleReader(const BlockStorage& storage) : storage_(storage) {}

  // All that lies at a place, until the next call; the same place again costs nothing. Throws
  // Error(io, damaged).
  const RawBundle& read(const BlockPlace& place);

 private:
  const BlockStorage& storage_;
  BundleUnpacker unpacker_;
  ByteVector packed_;
  std::optional<BlockPlace> place_;  // of what is in bundle_
  RawBundle bundle_;
};

// Only the head. Throws Error(io, damaged).
[[nodiscard]] BundleHead read_bundle_head(const BlockStorage& storage, const BlockPlace& place);

}  // namespace kvtool::store
