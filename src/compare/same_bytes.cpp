#include "compare/same_bytes.h"

#include <algorithm>
#include <cstring>

#include "io/aligned_bytes.h"
#include "parallel/ordered_work.h"

namespace kvtool {
namespace {

constexpr std::uint64_t block_bytes = 256U << 10U;  // of each side: stays in the second cache
constexpr std::uint64_t stretch_bytes = 8U << 20U;  // what a thread takes at once

// A stretch of both files.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool equal = false;
  AlignedBytes a;
  AlignedBytes b;
};

bool equal_block(const Source& a, const Source& b, Stretch& job, std::uint64_t at) {
  const auto size = static_cast<std::size_t>(std::min(block_bytes, job.end - at));
  job.a.resize(size);
  job.b.resize(size);
  a.read_at(at, job.a);
  b.read_at(at, job.b);
  return std::memcmp(job.a.data(), job.b.data(), size) == 0;
}

void compare_stretch(const Source& a, const Source& b, Stretch& job) {
  job.equal = true;
  for (std::uint64_t at = job.begin; job.equal && at < job.end; at += block_bytes)
    job.equal = equal_block(a, b, job, at);
}

}  // namespace

bool same_bytes(const Source& a, const Source& b, unsigned threads) {
  if (a.size() != b.size()) return false;
  std::uint64_t at = 0;
  bool equal = true;
  auto produce = [&](Stretch& job) {
    if (!equal || at == a.size()) return false;
    job.begin = at;
    at = job.end = std::min(a.size(), at + stretch_bytes);
    return true;
  };
  OrderedWork<Stretch>(threads).run(
      produce, [&](Stretch& job, unsigned) { compare_stretch(a, b, job); },
      [&](const Stretch& job) { equal = equal && job.equal; });
  return equal;
}

}  // namespace kvtool
