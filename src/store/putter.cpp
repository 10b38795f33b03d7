#include "store/putter.h"

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

// A block on its way.
struct Job {
  BlockMaker::Block block;
  BlockRow row;                     // name, beginning, size
  std::vector<BlockRow> named;      // blocks of the same name
  std::vector<BlockRow> beginning;  // blocks that begin with the same cell

  // What became of it:
  std::optional<BlockId> found;          // it is there
  std::optional<BlockPlace> inside;      // it is the beginning of what lies there
  std::optional<BlockPlace> superseded;  // what lies there is its beginning
  ByteVector packed;
};

// What a thread needs.
struct Tools {
  Tools(int level, const BlockStorage& storage) : packer(level), reader(storage) {}
  BlockPacker packer;
  BlockReader reader;
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
        threads_(packing::usable_threads(options.threads, options.level)) {
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
    if (!maker_.next(job.block)) return false;
    const BlockMaker::Block& block = job.block;
    job.row = {};
    job.row.name = name_(block.raw);
    job.row.cells = block.shape.cells;
    job.row.bytes = block.raw.size();
    job.named = catalogue_.named(job.row.name);
    job.beginning.clear();
    if (block.of_cells) job.row.beginning = beginning_of(block.shape, block.raw);
    if (block.of_cells && job.named.empty())
      job.beginning = catalogue_.beginning_with(job.row.beginning);
    return true;
  }

  void work_on(Job& job, unsigned thread) {
    job.found.reset();
    job.inside.reset();
    job.superseded.reset();
    job.packed.clear();
    Tools& tools = *tools_[thread];
    if (find_equal(job, tools.reader)) return;
    find_beginning(job, tools.reader);
    if (!job.inside)
      tools.packer.pack(job.block.kind, job.block.types, job.block.shape, job.block.raw,
                        job.packed);
  }

  // A block that was damaged on the disk stands for nothing; the new one takes its place.
  static const RawBlock* readable(const BlockPlace& place, BlockReader& reader) {
    try {
      return &reader.read(place);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::damaged) throw;
      return nullptr;
    }
  }

  // A name is only a hint: the bytes decide.
  bool find_equal(Job& job, BlockReader& reader) {
    for (const BlockRow& row : job.named) {
      if (row.cells != job.row.cells || row.bytes != job.row.bytes) continue;
      const RawBlock* other = readable(row.place, reader);
      if (other == nullptr ||
          !begin_alike(other->shape, other->raw, job.block.shape, job.block.raw))
        continue;
      job.found = row.id;
      return true;
    }
    return false;
  }

  void find_beginning(Job& job, BlockReader& reader) {
    for (const BlockRow& row : job.beginning) {
      const RawBlock* other = readable(row.place, reader);
      if (other == nullptr ||
          !begin_alike(other->shape, other->raw, job.block.shape, job.block.raw))
        continue;
      if (other->shape.cells >= job.block.shape.cells)
        job.inside = row.place;
      else
        job.superseded = row.place;
      return;
    }
  }

  void use(Job& job) {
    ++report_.blocks;
    if (options_.progress) options_.progress(job.block.raw.size());
    if (job.found) return entry_.uses.push_back({false, *job.found});
    if (const auto earlier = pending(job)) return entry_.uses.push_back({true, *earlier});
    add(job);
  }

  // The same block earlier in the same file.
  std::optional<std::uint64_t> pending(const Job& job) {
    const auto [begin, end] = pending_.equal_range(job.row.name);
    for (auto it = begin; it != end; ++it) {
      const BlockRow& row = entry_.blocks[it->second].row;
      ByteVector packed(static_cast<std::size_t>(row.place.size));
      if (row.cells != job.row.cells || row.bytes != job.row.bytes || !is_mine(row.place)) continue;
      addition_->read(row.place, packed);
      if (packed == job.packed) return it->second;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_mine(const BlockPlace& place) const {
    return addition_ && place.file == file_;
  }

  void add(Job& job) {
    NewBlock block;
    block.row = job.row;
    block.superseded = job.superseded;
    if (job.inside) {
      block.row.place = *job.inside;
    } else {
      if (!addition_) addition_ = storage_.begin();
      block.row.place = addition_->add(job.packed);
      file_ = block.row.place.file;
      ++report_.new_blocks;
      report_.new_bytes += job.row.bytes;
      report_.added_bytes += job.packed.size();
    }
    pending_.emplace(job.row.name, entry_.blocks.size());
    entry_.uses.push_back({true, entry_.blocks.size()});
    entry_.blocks.push_back(std::move(block));
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
  std::uint64_t file_ = 0;
  NewEntry entry_;
  std::multimap<BlockName, std::uint64_t> pending_;  // indices into entry_.blocks
};

}  // namespace

NewEntry put_blocks(const Dump& dump, const PutOptions& options, Catalogue& catalogue,
                    BlockStorage& storage, PutReport& report, const Namer& name) {
  return Putter(dump, options, catalogue, storage, name, report).run();
}

}  // namespace kvtool::store
