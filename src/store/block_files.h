// Blocks in files of one folder, each written once and never changed.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "io/disk.h"
#include "store/block_storage.h"

namespace kvtool::store {

class BlockFiles final : public BlockStorage {
 public:
  BlockFiles(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}
  ~BlockFiles() override;
  BlockFiles(const BlockFiles&) = delete;
  BlockFiles& operator=(const BlockFiles&) = delete;

  std::unique_ptr<BlockAddition> begin() override;
  void read(const BlockPlace& place, std::uint64_t offset, std::span<std::byte> out) const override;
  std::vector<BlockFile> files() const override;
  void remove(std::uint64_t file) override;
  void remove_unfinished() override;

 private:
  struct OpenFile {
    std::uint64_t file;
    std::shared_ptr<const int> descriptor;  // closes it
  };
  std::shared_ptr<const int> open_file(std::uint64_t file) const;

  Disk& disk_;
  std::string folder_;
  mutable std::mutex mutex_;
  mutable std::list<OpenFile> open_;  // the last used first
};

}  // namespace kvtool::store
