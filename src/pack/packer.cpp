// pack: a dump's file, section by section, in the order of the file.
#include <algorithm>
#include <utility>

#include "kvtool/error.h"
#include "kvtool/pack.h"
#include "pack/base_file.h"
#include "pack/base_match.h"
#include "pack/choose.h"
#include "pack/container_map.h"
#include "pack/hash.h"
#include "pack/index.h"
#include "pack/limits.h"
#include "pack/outline.h"
#include "parallel/ordered_work.h"

namespace kvtool {
namespace {

using namespace packing;

// Metadata is small and read by every verb.
constexpr int metadata_level = 9;

struct Job {
  std::uint32_t section = 0;
  std::uint64_t chunk = 0;
  ChunkData data;
};

class Packer {
 public:
  Packer(const Dump& dump, Sink& sink, const PackOptions& options)
      : dump_(dump), source_(*dump.source), sink_(sink), options_(options),
        outline_(outline_of(dump)), modes_(outline_.sections.size()),
        frames_(outline_.sections.size()), hashes_(outline_.sections.size()),
        packed_(outline_.sections.size()), packed_hashes_(outline_.sections.size()),
        tools_(usable_threads(options.threads, options.level)) {
    index_.ranges = outline_.ranges;
  }

  PackReport run() {
    if (options_.base != nullptr) use_base();
    choose_all();
    put(encode_header(header()));
    pack_metadata();
    pack_tensors();
    finish_index();
    return report();
  }

 private:
  Section& section(std::uint32_t s) { return outline_.sections[s]; }

  void use_base() {
    match_base(dump_, *options_.base, outline_, index_.maps);
    index_.base = base_file_of(*options_.base->source, options_.base_name);
  }

  Header header() {
    Header header;
    header.raw_size = source_.size();
    header.layout = dump_.layout;
    header.inner_version = dump_.dialect.version;
    const bool stamped = dump_.dialect.container == Container::session ||
                         dump_.dialect.container == Container::slot;
    if (stamped) source_.read_at(0, std::as_writable_bytes(std::span(&header.inner_magic, 1)));
    return header;
  }

  // --- choosing ---

  void choose_all() {
    modes_[0].plain = {{FrameMode::search, std::max(metadata_level, options_.level)}};
    for (std::uint32_t s = 1; s < outline_.sections.size(); ++s) choose(s);
  }

  void choose(std::uint32_t s) {
    ChunkData sample;
    load(s, chunk_count(section(s)) / 2, sample);
    choose_coding(section(s), modes_[s], beginning_of(sample.raw, section(s)), options_.level);
    if (!section(s).has_base) return;
    const std::uint64_t chunk = compared_chunk(s);
    load(s, chunk, sample);
    choose_base(section(s), modes_[s], sample, options_.level);
  }

  // As much of a chunk as is worth trying on: a 64th of the section, whole rows, 64 KiB at least.
  static std::span<const std::byte> beginning_of(const ByteVector& raw, const Section& section) {
    constexpr std::uint64_t least = 64U << 10U;
    const std::uint64_t unit = section.row_bytes > 0 ? section.row_bytes : block_bytes(section);
    const std::uint64_t wanted = std::max(least, section.size / 64) / unit * unit;
    return std::span(raw).first(static_cast<std::size_t>(
        std::min<std::uint64_t>(raw.size(), std::max(wanted, unit))));
  }

  // A chunk in the midst of what the section has in common with the base.
  std::uint64_t compared_chunk(std::uint32_t s) {
    const BaseTensor& base = section(s).base;
    const CellMap& map = index_.maps[base.map];
    if (base.transposed) return chunk_count(section(s)) / 2;
    const CellMap::Run& run = map.runs[map.runs.size() / 2];
    return (std::uint64_t{run.cell} + run.count / 2) * base.cell_bytes / section(s).chunk_bytes;
  }

  // --- packing ---

  // Raw bytes of a chunk and what they are compared with; not for metadata.
  void load(std::uint32_t s, std::uint64_t chunk, ChunkData& data) {
    const Section& it = section(s);
    data.raw.resize(chunk_size(it, chunk));
    source_.read_at(outline_.origins[s].offset + chunk * it.chunk_bytes, data.raw);
    if (!it.has_base) return;
    data.pieces = pieces_of(it, index_.maps[it.base.map], chunk);
    read_base(data.pieces, *options_.base->source, data.base);
  }

  void pack_metadata() {
    ByteVector raw;
    std::uint64_t at = 0;
    for (const Range& range : outline_.ranges) {
      if (range.section == 0) append(at, range.size, raw);
      at += range.size;
    }
    Job job;
    for (std::uint64_t c = 0; c < chunk_count(section(0)); ++c) {
      const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(c * section(0).chunk_bytes);
      job.data.raw.assign(begin, begin + chunk_size(section(0), c));
      encode(job, 0);
      use(job);
    }
  }

  void append(std::uint64_t offset, std::uint64_t size, ByteVector& raw) {
    const std::size_t at = raw.size();
    raw.resize(at + static_cast<std::size_t>(size));
    source_.read_at(offset, std::span(raw).subspan(at));
  }

  void encode(Job& job, unsigned thread) {
    encode_chunk(section(job.section), modes_[job.section], tools_[thread], job.data);
  }

  void pack_tensors() {
    OrderedWork<Job> work(usable_threads(options_.threads, options_.level));
    work.run([this](Job& job) { return next(job); },
             [this](Job& job, unsigned thread) { encode(job, thread); },
             [this](Job& job) { use(job); });
  }

  // The next chunk in the order of the file; all bytes pass the hash of the file on the way.
  bool next(Job& job) {
    while (range_ < outline_.ranges.size()) {
      const Range& range = outline_.ranges[range_];
      if (range.section != 0 && done_in_range_ < range.size) {
        job.section = range.section;
        job.chunk = done_in_range_ / section(range.section).chunk_bytes;
        load(job.section, job.chunk, job.data);
        done_in_range_ += job.data.raw.size();
        file_hash_.add(job.data.raw);
        return true;
      }
      if (range.section == 0) hash_metadata(raw_at_, range.size);
      raw_at_ += range.size;
      done_in_range_ = 0;
      ++range_;
    }
    return false;
  }

  void hash_metadata(std::uint64_t offset, std::uint64_t size) {
    ByteVector bytes;
    append(offset, size, bytes);
    file_hash_.add(bytes);
    advance(size);
  }

  void use(Job& job) {
    const std::uint32_t s = job.section;
    frames_[s].insert(frames_[s].end(), job.data.frame_sizes.begin(), job.data.frame_sizes.end());
    hashes_[s].push_back(job.data.hash);
    packed_hashes_[s].add(job.data.packed);
    packed_[s] += job.data.packed.size();
    from_base_[s] += section(s).has_base ? compared_bytes(job.data.pieces) : 0;
    put(job.data.packed);
    if (s != 0) advance(job.data.raw.size());
  }

  void put(std::span<const std::byte> bytes) {
    sink_.write(bytes);
    written_ += bytes.size();
  }

  void advance(std::uint64_t bytes) const {
    if (options_.progress) options_.progress(bytes);
  }

  // --- the index ---

  void finish_index() {
    source_.require_unchanged();
    const auto hash = file_hash_.value();
    index_.hash_low = hash.low64;
    index_.hash_high = hash.high64;
    drop_unused_base();
    for (std::uint32_t s = 0; s < outline_.sections.size(); ++s) {
      section(s).packed_hash = packed_hashes_[s].value();
      auto& sizes = index_.frame_sizes;
      sizes.insert(sizes.end(), frames_[s].begin(), frames_[s].end());
      auto& hashes = index_.chunk_hashes;
      hashes.insert(hashes.end(), hashes_[s].begin(), hashes_[s].end());
    }
    index_.sections = outline_.sections;
    const ByteVector index = encode_index(index_);
    const std::uint64_t offset = written_;
    put(index);
    put(encode_footer(offset, index));
  }

  // A file that has nothing in common with the base does not need it.
  void drop_unused_base() {
    const bool used = std::any_of(outline_.sections.begin(), outline_.sections.end(),
                                  [](const Section& s) { return s.has_base; });
    if (used) return;
    index_.base = {};
    index_.maps.clear();
  }

  PackReport report() {
    PackReport report;
    report.raw = source_.size();
    report.packed = written_;
    report.around = written_;
    for (std::uint32_t s = 0; s < outline_.sections.size(); ++s) {
      report.sections.push_back({section(s).label, outline_.origins[s].kind, section(s).size,
                                 packed_[s], from_base_[s]});
      report.around -= packed_[s];
    }
    return report;
  }

  const Dump& dump_;
  const Source& source_;
  Sink& sink_;
  const PackOptions& options_;
  Outline outline_;
  Index index_;
  // Of each section:
  std::vector<SectionModes> modes_;
  std::vector<std::vector<std::uint32_t>> frames_;
  std::vector<std::vector<std::uint64_t>> hashes_;
  std::vector<std::uint64_t> packed_;
  std::vector<std::uint64_t> from_base_ = std::vector<std::uint64_t>(outline_.sections.size());
  std::vector<SectionHash> packed_hashes_;

  std::vector<ChunkTools> tools_;  // one a thread
  FileHash file_hash_;
  std::uint64_t written_ = 0;
  // How far next() has come:
  std::size_t range_ = 0;
  std::uint64_t raw_at_ = 0;
  std::uint64_t done_in_range_ = 0;
};

}  // namespace

PackReport pack(const Dump& dump, Sink& sink, const PackOptions& options) {
  return Packer(dump, sink, options).run();
}

}  // namespace kvtool
