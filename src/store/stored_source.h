// A file of a store as a Source: put together from its blocks as it is read.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kvtool/source.h"
#include "pack/recent_chunks.h"
#include "store/block_reader.h"
#include "store/catalogue.h"

namespace kvtool::store {

class StoredSource final : public Source {
 public:
  // `keep_alive`: whatever must outlive the source.
  StoredSource(std::string name, Recipe recipe, Catalogue& catalogue, const BlockStorage& storage,
               std::shared_ptr<const void> keep_alive);

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return recipe_.size; }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  std::uint64_t look_ahead(std::uint64_t offset) const override;

 private:
  // Consecutive bytes of the file that belong to one part.
  struct Segment {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool of_cells = false;
    std::size_t part = 0;
    std::uint64_t first = 0;  // bytes: where it begins in the part; cells: the tensor
  };
  // Where a block is.
  struct Spot {
    BlockPlace place;
    std::uint32_t first = 0;  // its first cell in the bundle
  };
  // Where each cell of a part is.
  struct CellPlaces {
    std::vector<std::uint32_t> block;
    std::vector<std::uint32_t> row;
  };
  // Some channels of a transposed tensor.
  struct Band {
    const CellTensor* tensor = nullptr;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    ByteVector bytes;
  };
  // The rows of one tensor in one block.
  struct Rows {
    std::span<const std::byte> bytes;  // of the first cell on
    std::uint32_t cells = 0;           // in the bundle, from that one on
  };

  void add_segments();
  void place_cells();
  const Segment& segment_at(std::uint64_t offset) const;
  void read_bytes(const Segment& segment, std::uint64_t at, std::span<std::byte> out) const;
  void read_rows(const Segment& segment, std::uint64_t at, std::span<std::byte> out) const;
  void read_channels(const Segment& segment, std::uint64_t at, std::span<std::byte> out) const;
  void load_band(const Segment& segment, std::uint64_t channel) const;
  void turn_block(const Segment& segment, std::size_t block, ByteVector& turned) const;
  Rows rows_of(const Segment& segment, std::size_t block) const;
  const BundleHead& head_of(const BlockPlace& place) const;
  const ByteVector& chunk_of(const BlockPlace& place, std::size_t chunk) const;
  [[noreturn]] void fail(const BlockPlace& place, const char* problem) const;

  std::string name_;
  Recipe recipe_;
  const BlockStorage& storage_;
  std::shared_ptr<const void> keep_alive_;
  std::map<BlockId, Spot> spots_;
  std::vector<Segment> segments_;
  std::vector<CellPlaces> cells_;  // of each part of cells

  mutable BundleUnpacker unpacker_;
  mutable std::map<BlockPlace, BundleHead> heads_;
  mutable packing::RecentChunks<std::pair<BlockPlace, std::size_t>> chunks_;
  mutable Band band_;
};

}  // namespace kvtool::store
