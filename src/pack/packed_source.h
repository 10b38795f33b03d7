// The content of a container as a Source: chunks are read, checked and kept as they are needed.
#pragma once

#include <memory>
#include <string>

#include "kvtool/pack.h"
#include "pack/chunk.h"
#include "pack/container_map.h"
#include "pack/index.h"
#include "pack/recent_chunks.h"

namespace kvtool::packing {

// For one thread at a time, as every Source.
class PackedSource final : public Source {
 public:
  // Reads header, index and footer. Throws Error(damaged, unsupported).
  PackedSource(std::shared_ptr<const Source> packed, BaseOpener open_base);

  const std::string& name() const override { return packed_->name(); }
  std::uint64_t size() const override { return container_.header.raw_size; }
  void read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  std::uint64_t look_ahead(std::uint64_t offset) const override;
  void require_unchanged() const override { packed_->require_unchanged(); }
  unsigned mode() const override { return packed_->mode(); }

  [[nodiscard]] const Source& packed() const { return *packed_; }
  [[nodiscard]] const ContainerFile& container() const { return container_; }
  [[nodiscard]] const ContainerMap& map() const { return map_; }

  // Fills all of `chunk` but its raw bytes, which get their size. Opens and checks the base the
  // first time that it is needed. Throws Error(io, refused).
  void load(std::uint32_t section, std::uint64_t chunk, ChunkData& data) const;
  // The error of a chunk that does not decode.
  [[noreturn]] void fail(std::uint32_t section, std::uint64_t chunk) const;

 private:
  using ChunkName = std::uint64_t;  // section and chunk
  // Far below 64 MiB, with what rewriting needs beside it.
  static constexpr std::size_t most_kept_bytes = 16U << 20U;

  const ByteVector& chunk(std::uint32_t section, std::uint64_t chunk) const;
  const Source& base() const;

  std::shared_ptr<const Source> packed_;
  BaseOpener open_base_;
  ContainerFile container_;
  ContainerMap map_;

  mutable std::shared_ptr<const Source> base_;
  mutable ChunkTools tools_;
  mutable ChunkData work_;
  mutable RecentChunks<ChunkName> kept_{most_kept_bytes};
};

}  // namespace kvtool::packing
