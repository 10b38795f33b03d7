// pack --plain: any bytes as a zstd file that can be read anywhere.
#include <algorithm>

#include "kvtool/error.h"
#include "kvtool/pack.h"
#include "pack/limits.h"
#include "parallel/ordered_work.h"
#include "pack/seekable.h"

namespace kvtool {
namespace {

using namespace packing;

constexpr std::uint32_t frame_bytes = 256U << 10U;

struct Job {
  ByteVector raw;
  ByteVector packed;
  std::uint32_t checksum = 0;
};

class PlainPacker {
 public:
  PlainPacker(const Source& source, Sink& sink, const PackOptions& options)
      : source_(source), sink_(sink), options_(options) {
    for (unsigned i = 0; i < usable_threads(options.threads, options.level); ++i)
      makers_.emplace_back(options.level);
  }

  std::uint64_t run() {
    OrderedWork<Job> work(usable_threads(options_.threads, options_.level));
    work.run([this](Job& job) { return next(job); },
             [this](Job& job, unsigned thread) {
               job.checksum = plain_checksum(job.raw);
               makers_[thread].make(job.raw, job.packed);
             },
             [this](Job& job) { use(job); });
    source_.require_unchanged();
    put(finished_seek_table(entries_));
    return written_;
  }

 private:
  bool next(Job& job) {
    if (at_ == source_.size()) return false;
    job.raw.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(frame_bytes, source_.size() - at_)));
    source_.read_at(at_, job.raw);
    at_ += job.raw.size();
    return true;
  }

  void use(Job& job) {
    append_seek_entry({0, 0, static_cast<std::uint32_t>(job.packed.size()),
                       static_cast<std::uint32_t>(job.raw.size()), job.checksum},
                      entries_);
    put(job.packed);
    if (options_.progress) options_.progress(job.raw.size());
  }

  void put(std::span<const std::byte> bytes) {
    sink_.write(bytes);
    written_ += bytes.size();
  }

  const Source& source_;
  Sink& sink_;
  const PackOptions& options_;
  std::vector<PlainFrameMaker> makers_;  // one a thread
  ByteVector entries_;
  std::uint64_t at_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace

std::uint64_t pack_plain(const Source& source, Sink& sink, const PackOptions& options) {
  return PlainPacker(source, sink, options).run();
}

}  // namespace kvtool
