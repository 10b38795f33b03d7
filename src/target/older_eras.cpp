// Eras with layouts of another kind than today's: llama.cpp before August 2024, and ik_llama.cpp.
#include "kvtool/target.h"

namespace kvtool {
namespace {

// What they have in common.
Era other_era(const char* name, const char* from, const char* until, const char* summary) {
  Era e;
  e.name = name;
  e.from = from;
  e.until = until;
  e.summary = summary;
  e.rng_text = e.outputs = true;
  e.rotates = false;
  return e;
}

// The days are those between two changes, which came in the middle of one.
Era old_era(std::uint32_t version, const char* name, const char* from, const char* until,
            const char* summary) {
  Era e = other_era(name, from, until, summary);
  e.session_version = version;
  e.slot_version = version >= 5 ? 1 : 0;  // there since 2024-04-08
  return e;
}

Era fork_era(std::uint32_t generation, const char* name, const char* from, const char* until,
             const char* summary) {
  Era e = other_era(name, from, until, summary);
  e.family = Family::ik_llama;
  e.session_version = 8 + generation;
  e.slot_version = 2 + generation;
  return e;
}

}  // namespace

const std::vector<Era>& old_eras() {
  static const std::vector<Era> all = {
      old_era(0, "0", "2023-04-29", "2023-05-01", "the memory pool of the cache"),
      old_era(1, "1", "2023-05-03", "2023-10-02", "one sequence, no list of cells"),
      old_era(2, "2", "2023-10-04", "2023-12-06", "K of all layers, V of all layers, cells"),
      old_era(3, "3", "2023-12-08", "2024-01-12", "K and V of a layer next to each other"),
      old_era(4, "4", "2024-01-14", "2024-03-25", "no filler behind the generator's text"),
      old_era(5, "5/1", "2024-03-27", "2024-04-29", "places of outputs, slot files"),
      old_era(6, "6/1", "2024-05-01", "2024-07-18", "V in rows or transposed"),
      old_era(7, "7/1", "2024-07-20", "2024-07-27", "header struct for 512 layers")};
  return all;
}

const std::vector<Era>& fork_eras() {
  static const std::vector<Era> all = {fork_era(0, "ik-8/2", "2024-08-01", "2026-02-15",
                                                "ik_llama.cpp, as llama.cpp of August 2024"),
                                       fork_era(1, "ik-9/3", "2026-02-17", "2026-07-17",
                                                "ik_llama.cpp with recurrent states"),
                                       fork_era(2, "ik-10/4", "2026-07-19", "2026-08-15",
                                                "ik_llama.cpp with index rows")};
  return all;
}

}  // namespace kvtool
