// What K looks like, beside what the file says of it.
#include <fmt/format.h>

#include "kvtool/rotation_evidence.h"
#include "query/findings.h"

namespace kvtool {
namespace {

// How K of a memory is stored by the file's own words; nothing where it has none.
std::optional<Rotation> told(const Dump& dump, std::size_t memory) {
  if (!dump.dialect.rotation) return std::nullopt;
  for (const Stream& stream : dump.state.memories[memory].streams)
    if (!stream.cells.empty()) return stream.rot_k != 0 ? Rotation::rotated : Rotation::plain;
  return std::nullopt;
}

}  // namespace

void check_rotation(const Dump& dump, Findings& findings) {
  for (const CacheEvidence& e : rotation_evidence(dump, {.also_told = true})) {
    const std::string where = fmt::format("memory {}", e.memory);
    const auto words = told(dump, e.memory);
    const bool contradicted = words && e.verdict != Rotation::undecided && *words != e.verdict;
    if (contradicted)
      findings.warning("rotation_contradicted", where,
                       fmt::format("the file says that its K is {}, but {}", name_of(*words),
                                   words_of(e)));
    else
      findings.note("rotation_evidence", where, words_of(e));
  }
}

}  // namespace kvtool
