// What every dump that opens must satisfy, genuine or damaged.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "kvtool/map.h"
#include "kvtool/write.h"
#include "support/bytes.h"

namespace kvtool::test {

// Empty when the ranges touch, have labels and fill [0, size); else what is wrong.
inline std::string flaw_of_map(const std::vector<MapRange>& ranges, std::uint64_t size) {
  std::uint64_t at = 0;
  for (const MapRange& range : ranges) {
    if (range.offset != at) return fmt::format("range at {} where {} ends", range.offset, at);
    if (range.size == 0 || range.label.empty()) return fmt::format("nothing is said at {}", at);
    at += range.size;
  }
  return at == size ? "" : fmt::format("the map ends at {} of {}", at, size);
}

inline ByteVector rewritten(const Plan& plan) {
  MemorySink sink;
  write_plan(plan, sink);
  return sink.bytes();
}

// Empty when the identity plan gives back `expected`, byte for byte and of the size foretold.
inline std::string flaw_of_identity(const std::shared_ptr<const Dump>& dump,
                                    const ByteVector& expected) {
  const Plan plan = Plan::of(dump);
  if (size_of(plan) != expected.size())
    return fmt::format("size_of says {} of {}", size_of(plan), expected.size());
  return rewritten(plan) == expected ? "" : "the identity rewrite differs";
}

// All of it for a dump that was opened from `bytes`.
inline std::string flaw_of(const std::shared_ptr<const Dump>& dump, const ByteVector& bytes) {
  for (const auto& ranges : {map_of(*dump, false), map_of(*dump, true), sections_of(*dump)}) {
    const std::string flaw = flaw_of_map(ranges, bytes.size());
    if (!flaw.empty()) return flaw;
  }
  return flaw_of_identity(dump, bytes);
}

}  // namespace kvtool::test
