// A store put together from its parts, for tests that replace one of them.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "io/disk.h"
#include "pack/hash.h"
#include "store/block_files.h"
#include "store/putter.h"
#include "store/sqlite_catalogue.h"
#include "store/store_folder.h"
#include "store/stored_source.h"

namespace kvtool::test {

// Catalogue and blocks in a folder of their own.
class StoreParts {
 public:
  StoreParts() {
    std::filesystem::create_directory(blocks());
    store::SqliteCatalogue::create(database(), std::nullopt);
  }

  // Puts a dump by way of a disk, with names of blocks as the test likes them.
  PutReport put(const std::string& name, const Dump& dump, Disk& disk = Disk::system(),
                const store::Namer& namer = store::name_of) {
    store::BlockFiles storage(disk, blocks());
    store::SqliteCatalogue catalogue(database());
    PutReport report;
    store::NewEntry entry = store::put_blocks(dump, {}, catalogue, storage, report, namer);
    entry.entry.name = name;
    entry.entry.file_bytes = dump.source->size();
    MediaIndex media;
    entry.media = &media;
    catalogue.add(entry, [&](const store::BlockRow& a, const store::BlockRow& b) {
      store::BundleReader reader_a(storage);
      store::BundleReader reader_b(storage);
      return cells_alike(reader_a.read(a.place).view(), a.first, reader_b.read(b.place).view(),
                         b.first, a.cells);
    });
    return report;
  }

  // What is under a name.
  [[nodiscard]] ByteVector get(const std::string& name) const {
    store::BlockFiles storage(Disk::system(), blocks());
    store::SqliteCatalogue catalogue(database());
    return all_of(store::StoredSource(name, catalogue.recipe(name), catalogue, storage, nullptr));
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const StoreEntry& entry : store::SqliteCatalogue(database()).entries())
      names.push_back(entry.name);
    return names;
  }

  [[nodiscard]] std::string blocks() const { return (folder_.path() / "blocks").string(); }
  [[nodiscard]] std::string database() const { return (folder_.path() / "catalogue.db").string(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace kvtool::test
