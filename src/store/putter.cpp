#include "store/putter.h"

#include <algorithm>
#include <map>
#include <memory>

#include "kvtool/error.h"
#include "pack/limits.h"
#include "parallel/ordered_work.h"
#include "store/block_maker.h"
#include "store/block_reader.h"
#include "store/cutter.h"

namespace kvtool::store {
namespace {

// Each thread has two batches on their way.
constexpr unsigned most_threads = 6;

// A block on its way.
struct Item {
  std::uint32_t first = 0;          // its first cell in the batch
  BlockRow row;                     // name, beginning, size
  std::vector<BlockRow> named;      // blocks of the same name
  std::vector<BlockRow> beginning;  // blocks that begin with the same cell

  // What became of it:
  std::optional<BlockId> found;        // it is there
  std::optional<BlockRow> inside;      // it is the beginning of this one
  std::optional<BlockRow> superseded;  // this one is its beginning

  [[nodiscard]] bool is_new() const { return !found && !inside; }
};

// New blocks that are packed together.
struct Bundle {
  std::size_t first = 0;  // items of the job
  std::size_t end = 0;
  ByteVector packed;
};

// A batch on its way.
struct Job {
  BlockMaker::Batch batch;
  std::vector<Item> items;
  std::vector<Bundle> bundles;
};

// What a thread needs.
struct Tools {
  Tools(int level, const BlockStorage& storage) : packer(level), reader(storage) {}
  BundlePacker packer;
  BundleReader reader;
  ByteVector cells;  // of a bundle that is not the whole batch
};

class Putter {
 public:
  Putter(const Dump& dump, const PutOptions& options, Catalogue& catalogue, BlockStorage& storage,
         const Namer& name, PutReport& report)
      : options_(options),
        catalogue_(catalogue),
        storage_(storage),
        name_(name),
        report_(report),
        cut_(cut(dump)),
        maker_(dump, cut_),
        threads_(std::min(packing::usable_threads(options.threads, options.level), most_threads)) {
    for (unsigned i = 0; i < threads_; ++i)
      tools_.push_back(std::make_unique<Tools>(options.level, storage));
  }

  NewEntry run() {
    OrderedWork<Job> work(threads_);
    work.run([this](Job& job) { return next(job); },
             [this](Job& job, unsigned thread) { work_on(job, thread); },
             [this](Job& job) { use(job); });
    if (addition_) addition_->finish();
    set_block_counts();
    entry_.recipe = std::move(cut_.recipe);
    return std::move(entry_);
  }

 private:
  bool next(Job& job) {
    if (!maker_.next(job.batch)) return false;
    job.items.clear();
    std::uint32_t first = 0;
    for (const std::uint32_t end : job.batch.ends) {
      job.items.push_back(look_up(job.batch, first, end - first));
      first = end;
    }
    return true;
  }

  Item look_up(const BlockMaker::Batch& batch, std::uint32_t first, std::uint32_t cells) {
    block_.clear();
    append_cells(batch.view(), first, cells, block_);
    Item item;
    item.first = first;
    item.row.name = name_(block_);
    item.row.cells = cells;
    item.row.bytes = block_.size();
    item.named = catalogue_.named(item.row.name);
    if (!batch.of_cells) return item;
    item.row.beginning = beginning_of({cells, batch.shape.row_bytes}, block_);
    if (item.named.empty()) item.beginning = catalogue_.beginning_with(item.row.beginning);
    return item;
  }

  void work_on(Job& job, unsigned thread) {
    Tools& tools = *tools_[thread];
    for (Item& item : job.items)
      if (!find_equal(job.batch, item, tools.reader)) find_beginning(job.batch, item, tools.reader);
    job.bundles = bundles_of(job.items);
    for (Bundle& bundle : job.bundles) pack(job, bundle, tools);
  }

  // A block that was damaged on the disk stands for nothing; the new one takes its place.
  static const RawBundle* readable(const BlockPlace& place, BundleReader& reader) {
    try {
      return &reader.read(place);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::damaged) throw;
      return nullptr;
    }
  }

  static bool alike(const BlockMaker::Batch& batch, const Item& item, const BlockRow& row,
                    std::uint32_t cells, BundleReader& reader) {
    const RawBundle* other = readable(row.place, reader);
    return other != nullptr &&
           cells_alike(other->view(), row.first, batch.view(), item.first, cells);
  }

  // A name is only a hint: the bytes decide.
  static bool find_equal(const BlockMaker::Batch& batch, Item& item, BundleReader& reader) {
    for (const BlockRow& row : item.named) {
      if (row.cells != item.row.cells || row.bytes != item.row.bytes) continue;
      if (!alike(batch, item, row, row.cells, reader)) continue;
      item.found = row.id;
      return true;
    }
    return false;
  }

  static void find_beginning(const BlockMaker::Batch& batch, Item& item, BundleReader& reader) {
    for (const BlockRow& row : item.beginning) {
      if (!alike(batch, item, row, std::min(row.cells, item.row.cells), reader)) continue;
      (row.cells >= item.row.cells ? item.inside : item.superseded) = row;
      return;
    }
  }

  // Neighbours go together. A block with room for more cells stays alone: the next save of a chat
  // that grows will take its place.
  static std::vector<Bundle> bundles_of(const std::vector<Item>& items) {
    std::vector<Bundle> bundles;
    bool open = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const bool full = items[i].row.cells == cells_per_block;
      if (!items[i].is_new()) {
        open = false;
      } else if (open && full) {
        ++bundles.back().end;
      } else {
        bundles.push_back({i, i + 1, {}});
        open = full;
      }
    }
    return bundles;
  }

  static void pack(const Job& job, Bundle& bundle, Tools& tools) {
    const BlockMaker::Batch& batch = job.batch;
    const std::uint32_t first = job.items[bundle.first].first;
    const std::uint32_t cells = batch.ends[bundle.end - 1] - first;
    if (cells == batch.shape.cells)
      return tools.packer.pack(batch.kind, batch.types, batch.shape, batch.raw, bundle.packed);
    tools.cells.clear();
    append_cells(batch.view(), first, cells, tools.cells);
    tools.packer.pack(batch.kind, batch.types, {cells, batch.shape.row_bytes}, tools.cells,
                      bundle.packed);
  }

  void use(Job& job) {
    report_.blocks += job.items.size();
    if (options_.progress) options_.progress(job.batch.raw.size());
    auto bundle = job.bundles.begin();
    for (std::size_t i = 0; i < job.items.size(); ++i) {
      if (bundle != job.bundles.end() && bundle->first == i) {
        add(job, *bundle);
        i = (bundle++)->end - 1;
      } else {
        refer(job.items[i]);
      }
    }
  }

  // To a block that is there.
  void refer(const Item& item) {
    if (item.found) return entry_.uses.push_back({false, *item.found});
    NewBlock block{item.row, std::nullopt};
    block.row.place = item.inside->place;
    block.row.first = item.inside->first;
    add_row(block);
  }

  void add_row(const NewBlock& block) {
    entry_.uses.push_back({true, entry_.blocks.size()});
    entry_.blocks.push_back(block);
  }

  void add(const Job& job, const Bundle& bundle) {
    if (const auto earlier = pending(job, bundle)) return entry_.uses.push_back({true, *earlier});
    if (!addition_) addition_ = storage_.begin();
    const BlockPlace place = addition_->add(bundle.packed);
    pending_.emplace(job.items[bundle.first].row.name, entry_.blocks.size());
    report_.added_bytes += bundle.packed.size();
    for (std::size_t i = bundle.first; i < bundle.end; ++i) {
      const Item& item = job.items[i];
      NewBlock block{item.row, item.superseded};
      block.row.place = place;
      block.row.first = item.first - job.items[bundle.first].first;
      add_row(block);
      ++report_.new_blocks;
      report_.new_bytes += item.row.bytes;
    }
  }

  // The same block earlier in the same file: states of checkpoints, for one.
  std::optional<std::uint64_t> pending(const Job& job, const Bundle& bundle) {
    if (bundle.end - bundle.first > 1) return std::nullopt;
    const auto [begin, end] = pending_.equal_range(job.items[bundle.first].row.name);
    for (auto it = begin; it != end; ++it) {
      const BlockPlace& place = entry_.blocks[it->second].row.place;
      if (place.size != bundle.packed.size()) continue;
      ByteVector packed(static_cast<std::size_t>(place.size));
      addition_->read(place, packed);
      if (packed == bundle.packed) return it->second;
    }
    return std::nullopt;
  }

  // The recipe has a place for every block.
  void set_block_counts() {
    for (BytesPart& part : cut_.recipe.bytes)
      part.blocks.resize(static_cast<std::size_t>(part.block_count()));
    for (CellsPart& part : cut_.recipe.cells)
      part.blocks.resize(part.group_ends.size() * part.block_ends.size());
  }

  const PutOptions& options_;
  Catalogue& catalogue_;
  BlockStorage& storage_;
  const Namer& name_;
  PutReport& report_;
  Cut cut_;
  BlockMaker maker_;
  unsigned threads_;
  std::vector<std::unique_ptr<Tools>> tools_;  // one a thread
  std::unique_ptr<BlockAddition> addition_;
  ByteVector block_;  // the one that is looked up
  NewEntry entry_;
  std::multimap<BlockName, std::uint64_t> pending_;  // indices into entry_.blocks
};

}  // namespace

NewEntry put_blocks(const Dump& dump, const PutOptions& options, Catalogue& catalogue,
                    BlockStorage& storage, PutReport& report, const Namer& name) {
  return Putter(dump, options, catalogue, storage, name, report).run();
}

}  // namespace kvtool::store
