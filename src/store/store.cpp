#include "kvtool/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <future>
#include <tuple>

#include "io/disk.h"
#include "kvtool/error.h"
#include "pack/hash.h"
#include "store/block_files.h"
#include "store/block_reader.h"
#include "store/collect.h"
#include "store/folder_lock.h"
#include "store/names.h"
#include "store/putter.h"
#include "store/sqlite_catalogue.h"
#include "store/stored_source.h"

namespace kvtool {
namespace {

using namespace store;

namespace fs = std::filesystem;

std::string catalogue_path(const std::string& folder) { return folder + "/catalogue.db"; }
std::string lock_path(const std::string& folder) { return folder + "/lock"; }
std::string blocks_path(const std::string& folder) { return folder + "/blocks"; }

[[noreturn]] void fail(const std::string& path) {
  throw Error(ErrorKind::io, system_message()).in_file(path);
}

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(path);
  if (::chmod(path.c_str(), 0700) != 0) fail(path);
}

// An empty file that only its owner reads; what SQLite puts beside it gets the same mode.
void make_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) fail(path);
  ::close(fd);
}

packing::FileHash hash_of(const Source& source,
                          const std::function<void(std::uint64_t)>& progress) {
  packing::FileHash hash;
  packing::add_range(hash, source, {0, source.size()}, progress);
  return hash;
}

// Two processes can put the same block at the same time.
Catalogue::SameContent same_content(const BlockStorage& storage) {
  return [&storage](const BlockRow& a, const BlockRow& b) {
    BundleReader reader_a(storage);
    BundleReader reader_b(storage);
    try {
      return a.cells == b.cells && cells_alike(reader_a.read(a.place).view(), a.first,
                                               reader_b.read(b.place).view(), b.first, a.cells);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::damaged) throw;
      return false;  // what is damaged on the disk stands for nothing
    }
  };
}

// Slot files do not say of which architecture they are.
bool arch_fits(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

// The most reused first, then the most shared, then the shortest stored.
void rank(std::vector<BestCandidate>& candidates) {
  const auto key = [](const BestCandidate& c) {
    return std::tuple(~c.reuse.reused, ~c.shared, c.entry.prompt.tokens, c.entry.name);
  };
  std::ranges::sort(candidates, {}, key);
  const auto same = [](const auto& a, const auto& b) { return a.entry.name == b.entry.name; };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
}

}  // namespace

struct Store::Impl {
  explicit Impl(const std::string& where)
      : folder(where),
        catalogue(catalogue_path(where)),
        storage(Disk::system(), blocks_path(where)) {}

  [[nodiscard]] std::shared_ptr<FolderLock> shared() const {
    return std::make_shared<FolderLock>(lock_path(folder), FolderLock::Kind::shared);
  }
  void require_free(const std::string& name);
  std::vector<std::string> make_room(const std::string& spared);

  std::string folder;
  SqliteCatalogue catalogue;
  BlockFiles storage;
};

void Store::init(const std::string& folder, std::optional<std::uint64_t> budget) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error))
    throw Error(ErrorKind::refused, "is there already and not empty").in_file(folder);
  if (error) throw Error(ErrorKind::io, error.message()).in_file(folder);
  make_folder(folder);
  make_folder(blocks_path(folder));
  make_file(lock_path(folder));
  make_file(catalogue_path(folder));
  SqliteCatalogue::create(catalogue_path(folder), budget);
}

Store::Store(const std::string& folder) {
  std::error_code ignored;
  if (!fs::exists(catalogue_path(folder), ignored))
    throw Error(ErrorKind::refused, "is no store; `kvtool store init` makes one").in_file(folder);
  impl_ = std::make_shared<Impl>(folder);
}

// --- put and get ---

// Before the work; when the entry is added, the catalogue looks once more.
void Store::Impl::require_free(const std::string& name) {
  if (catalogue.has(name)) throw Error(ErrorKind::refused, taken(name));
}

// The budget is kept if nobody uses the store at this moment; else the next put or gc does it.
std::vector<std::string> Store::Impl::make_room(const std::string& spared) {
  const auto budget = catalogue.budget();
  if (!budget || bytes_of(storage.files()) <= *budget) return {};
  const FolderLock alone(lock_path(folder), FolderLock::Kind::alone, 0);
  if (!alone.ok()) return {};
  return collect(catalogue, storage, budget, spared, false).evicted;
}

PutReport Store::put(const std::string& name, const Dump& dump, const PutOptions& options) {
  require_name(name);
  for (const std::string& tag : options.tags) require_name(tag, "tag");
  PutReport report;
  {
    const auto lock = impl_->shared();
    if (!options.replace) impl_->require_free(name);
    // Beside the work on blocks where several threads may read, else behind it.
    const bool beside = options.threads > 1 && dump.source->for_threads();
    auto hashing = std::async(beside ? std::launch::async : std::launch::deferred,
                              [&] { return hash_of(*dump.source, {}).value(); });
    NewEntry entry = put_blocks(dump, options, impl_->catalogue, impl_->storage, report);
    const auto hash = hashing.get();
    dump.source->require_unchanged();
    report.file_bytes = dump.source->size();
    entry.entry = {name,
                   options.note,
                   options.tags,
                   0,
                   0,
                   false,
                   dump.layout,
                   report.file_bytes,
                   report.added_bytes,
                   hash.low64,
                   hash.high64,
                   stored_prompt(dump),
                   options.model};
    MediaIndex media;
    entry.symbols = symbols_of(dump.tokens, media);
    entry.media = &media;
    entry.replace = options.replace;
    impl_->catalogue.add(entry, same_content(impl_->storage));
  }
  report.evicted = impl_->make_room(name);
  return report;
}

std::shared_ptr<const Source> Store::get(const std::string& name) {
  struct Kept {
    std::shared_ptr<Impl> impl;
    std::shared_ptr<FolderLock> lock;
  };
  const auto kept = std::make_shared<Kept>(Kept{impl_, impl_->shared()});
  auto source = std::make_shared<StoredSource>(name, impl_->catalogue.recipe(name),
                                               impl_->catalogue, impl_->storage, kept);
  impl_->catalogue.touch(name);
  return source;
}

// --- looking ---

std::vector<StoreEntry> Store::entries() { return impl_->catalogue.entries(); }
StoreEntry Store::entry(const std::string& name) { return impl_->catalogue.find(name); }
std::uint64_t Store::queries() const { return impl_->catalogue.queries(); }

BestReport Store::best(const TokenArea& prompt, const BestOptions& options) {
  MediaIndex media;
  const std::vector<Symbol> symbols = symbols_of(prompt, media);
  BestReport report;
  report.tokens = prompt.ids.size();
  for (const Scope& scope : impl_->catalogue.scopes()) {
    if (!options.shape.empty() &&
        (scope.shape != options.shape || !arch_fits(scope.arch, options.arch)))
      continue;
    std::vector<StampDifference> soft;
    if (options.model) {
      if (!scope.model) {
        report.without_model += impl_->catalogue.entries_in(scope);
        continue;
      }
      soft = differences(*scope.model, *options.model);
      if (any_hard(soft)) {
        report.other_model += impl_->catalogue.entries_in(scope);
        continue;
      }
      std::erase_if(soft,
                    [](const StampDifference& d) { return d.stamp_class != StampClass::soft; });
    }
    for (PrefixHit& hit : impl_->catalogue.hits(scope, symbols, media)) {
      const Reuse reuse = reuse_of(hit.entry.prompt, hit.shared, report.tokens);
      if (reuse.reused > 0)
        report.candidates.push_back({std::move(hit.entry), hit.shared, reuse, soft});
    }
  }
  rank(report.candidates);
  return report;
}

// --- keeping house ---

void Store::pin(const std::string& name, bool pinned) { impl_->catalogue.pin(name, pinned); }
void Store::remove(const std::string& name) { impl_->catalogue.remove(name); }

GcReport Store::gc(const GcOptions& options) {
  const FolderLock alone(lock_path(impl_->folder), FolderLock::Kind::alone, options.patience);
  if (!alone.ok())
    throw Error(ErrorKind::refused,
                fmt::format("is in use by others, and was for {} seconds", options.patience))
        .in_file(impl_->folder);
  const auto budget = options.budget ? options.budget : impl_->catalogue.budget();
  return collect(impl_->catalogue, impl_->storage, budget, {}, options.dry_run);
}

VerifyReport Store::verify(const std::vector<std::string>& names,
                           const std::function<void(std::uint64_t)>& progress) {
  const auto lock = impl_->shared();
  VerifyReport report;
  if (names.empty()) report.problems = impl_->catalogue.problems();
  report.blocks = impl_->catalogue.all_blocks().size();
  for (const StoreEntry& entry : impl_->catalogue.entries()) {
    if (!names.empty() && std::ranges::find(names, entry.name) == names.end()) continue;
    try {
      const StoredSource source(entry.name, impl_->catalogue.recipe(entry.name), impl_->catalogue,
                                impl_->storage, nullptr);
      const auto hash = hash_of(source, progress).value();
      if (source.size() == entry.file_bytes && hash.low64 == entry.hash_low &&
          hash.high64 == entry.hash_high)
        ++report.entries;
      else
        report.problems.push_back(fmt::format("'{}' does not have its XXH3", entry.name));
    } catch (const Error& error) {
      report.problems.push_back(
          fmt::format("'{}': {}", entry.name,
                      error.file() == entry.name ? error.message() : error.what()));
    }
  }
  for (const std::string& name : names) static_cast<void>(impl_->catalogue.find(name));
  return report;
}

StoreSizes Store::sizes() {
  const auto lock = impl_->shared();
  Inventory inventory = inventory_of(impl_->catalogue, impl_->storage);
  StoreSizes sizes;
  sizes.entries = std::move(inventory.entries);
  std::ranges::sort(sizes.entries, {}, &EntrySizes::name);
  for (const EntrySizes& entry : sizes.entries) sizes.file_bytes += entry.file_bytes;
  sizes.block_bytes = inventory.file_bytes;
  sizes.live_bytes = inventory.live_bytes;
  sizes.catalogue_bytes = impl_->catalogue.bytes();
  sizes.budget = impl_->catalogue.budget();
  return sizes;
}

}  // namespace kvtool
