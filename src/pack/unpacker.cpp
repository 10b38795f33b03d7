// unpack: a whole container, every byte checked.
#include <fmt/format.h>

#include <algorithm>

#include "kvtool/error.h"
#include "kvtool/pack.h"
#include "pack/hash.h"
#include "pack/limits.h"
#include "pack/packed_source.h"
#include "parallel/ordered_work.h"

namespace kvtool {
namespace {

using namespace packing;

struct Job {
  std::uint32_t section = 0;
  std::uint64_t chunk = 0;
  bool is_packed = false;  // otherwise raw bytes that need no more work
  ChunkData data;
};

class Unpacker {
 public:
  Unpacker(const PackedSource& source, Sink& sink, const UnpackOptions& options)
      : source_(source), index_(source.container().index), sink_(sink), options_(options),
        packed_hashes_(index_.sections.size()), tools_(usable_threads(options.threads)) {}

  void run() {
    check_small_sections();
    OrderedWork<Job> work(usable_threads(options_.threads));
    work.run([this](Job& job) { return next(job); },
             [this](Job& job, unsigned thread) { decode(job, thread); },
             [this](Job& job) { use(job); });
    source_.require_unchanged();
    require_file_hash();
  }

 private:
  // A section of several ranges is small, and its chunks are met more than once: its frames are
  // checked here. Those of others are when their chunks come, one after another.
  void check_small_sections() {
    std::vector<std::uint64_t> ranges(index_.sections.size());
    for (const Range& range : index_.ranges) ++ranges[range.section];
    for (std::uint32_t s = 0; s < ranges.size(); ++s) {
      in_pieces_.push_back(ranges[s] != 1);
      if (in_pieces_[s]) check_frames(s);
    }
  }

  void check_frames(std::uint32_t s) {
    ByteVector bytes;
    for (std::uint64_t c = 0; c < chunk_count(index_.sections[s]); ++c) {
      const Extent frames = source_.map().frames_of(s, c);
      if (frames.size > index_.sections[s].chunk_bytes) source_.fail(s, c);
      bytes.resize(static_cast<std::size_t>(frames.size));
      source_.packed().read_at(frames.offset, bytes);
      packed_hashes_[s].add(bytes);
    }
    require_section_hash(s);
  }

  bool next(Job& job) {
    if (at_ == source_.size()) return false;
    const RawPlace place = source_.map().place_of(at_);
    const Section& section = index_.sections[place.section];
    job.section = place.section;
    job.is_packed = !in_pieces_[place.section];
    if (job.is_packed) {
      job.chunk = place.offset / section.chunk_bytes;
      source_.load(job.section, job.chunk, job.data);
      packed_hashes_[job.section].add(job.data.packed);
      if (job.chunk + 1 == chunk_count(section)) require_section_hash(job.section);
    } else {
      job.data.raw.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(place.size, section.chunk_bytes)));
      source_.read_at(at_, job.data.raw);
    }
    at_ += job.data.raw.size();
    return true;
  }

  void decode(Job& job, unsigned thread) {
    if (job.is_packed &&
        !decode_chunk(index_.sections[job.section], tools_[thread], job.data))
      source_.fail(job.section, job.chunk);
  }

  void use(Job& job) {
    file_hash_.add(job.data.raw);
    sink_.write(job.data.raw);
    if (options_.progress) options_.progress(job.data.raw.size());
  }

  void require_section_hash(std::uint32_t s) {
    const Section& section = index_.sections[s];
    if (section.size == 0 || packed_hashes_[s].value() == section.packed_hash) return;
    throw Error(ErrorKind::damaged,
                Place{source_.map().frames_of(s, 0).offset, section.label},
                "its frames do not have their XXH3: the packed file is damaged")
        .in_file(source_.name());
  }

  void require_file_hash() {
    const auto found = file_hash_.value();
    if (found.low64 == index_.hash_low && found.high64 == index_.hash_high) return;
    throw Error(ErrorKind::damaged,
                "the whole does not have its XXH3, though all parts have theirs")
        .in_file(source_.name());
  }

  const PackedSource& source_;
  const Index& index_;
  Sink& sink_;
  const UnpackOptions& options_;
  std::vector<SectionHash> packed_hashes_;
  std::vector<bool> in_pieces_;
  std::vector<ChunkTools> tools_;  // one a thread
  FileHash file_hash_;
  std::uint64_t at_ = 0;
};

// Any other source: it checks what it hands out by itself.
void copy_all(const Source& source, Sink& sink, const UnpackOptions& options) {
  constexpr std::uint64_t step = 1U << 20U;
  for (std::uint64_t at = 0; at < source.size(); at += step) {
    const std::uint64_t size = std::min(step, source.size() - at);
    sink.copy(source, at, size);
    if (options.progress) options.progress(size);
  }
  source.require_unchanged();
}

}  // namespace

void unpack(const Source& source, Sink& sink, const UnpackOptions& options) {
  if (const auto* packed = dynamic_cast<const PackedSource*>(&source))
    Unpacker(*packed, sink, options).run();
  else
    copy_all(source, sink, options);
}

}  // namespace kvtool
