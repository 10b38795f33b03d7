// Dumps that end too early, at every length.
#include <set>

#include "support/damage.h"
#include "support/testdata.h"
#include "support/tiny_dump.h"

namespace kvtool::test {
namespace {

// Where some field of a dump ends: the only places at which a shorter file can be whole.
std::set<std::size_t> ends_of_fields(const Dump& dump) {
  std::set<std::size_t> ends = {0};
  for (const MapRange& range : map_of(dump, true))
    ends.insert(static_cast<std::size_t>(range.offset + range.size));
  return ends;
}

// True when bytes were taken as they are: a tail that was asked for, or the body of a deepseek4
// state that does not parse. Where such bytes end, nothing can tell.
bool has_opaque_rest(const Dump& dump) {
  if (dump.tail.trailing.size > 0) return true;
  const auto& memories = dump.state.memories;
  return !memories.empty() && !memories.back().blocks.empty() &&
         memories.back().blocks.front().label == "unknown";
}

// Opens the first `length` bytes. What opens must be sound and end between two fields.
// Answers whether it opened.
bool cut_opens(const ByteVector& bytes, std::size_t length, const std::set<std::size_t>& ends,
               const OpenOptions& options = {}) {
  const auto head = std::span(bytes).first(length);
  const Outcome outcome = open_bytes(head, options);
  EXPECT_EQ(flaw_of(outcome, head), "") << "cut at " << length;
  const bool whole = outcome.dump != nullptr && !has_opaque_rest(*outcome.dump);
  EXPECT_TRUE(!whole || ends.count(length) == 1) << "opens when cut at " << length;
  return whole;
}

// Of bytes that no reader looks into, and of the many equal words of a header struct, so many at
// either end are cut.
constexpr std::size_t edge = 40;

// The lengths to cut at: all, but for the inside of long stretches.
std::vector<std::size_t> lengths_of(const Dump& dump) {
  std::vector<std::size_t> lengths;
  for (const MapRange& range : map_of(dump, true)) {
    const bool long_one = range.size > 16 * edge;
    for (std::uint64_t i = 0; i < range.size; ++i)
      if (!long_one || i < edge || range.size - i <= edge)
        lengths.push_back(static_cast<std::size_t>(range.offset + i));
  }
  return lengths;
}

// Cuts at every such length; answers how many of the pieces opened.
std::size_t cut_everywhere(const ByteVector& bytes, const OpenOptions& options = {}) {
  const Outcome whole = open_bytes(bytes);
  if (!whole.dump) {
    ADD_FAILURE() << "the whole file does not open: " << whole.error->what();
    return 0;
  }
  const auto ends = ends_of_fields(*whole.dump);
  std::size_t opened = 0;
  for (const std::size_t length : lengths_of(*whole.dump))
    opened += cut_opens(bytes, length, ends, options) ? 1 : 0;
  return opened;
}

// A piece can be whole where a memory or a part of the tail ends, or, in old layouts, where rows
// that are left could be those of a smaller recurrent state. There are few such places.
TEST(Truncation, EveryLayoutAtEveryLength) {
  for (const TinyDump& tiny : tiny_dumps()) {
    SCOPED_TRACE(tiny.layout);
    EXPECT_LE(cut_everywhere(build(tiny)), 6U);
  }
}

TEST(Truncation, WithTheTailKeptAsItIs) {
  for (const char* layout :
       {"ggsq4/recurrent", "ggsq4.streams.rot/kv", "ggsq4.streams.rot/hybrid"}) {
    SCOPED_TRACE(layout);
    cut_everywhere(build(tiny_dump(layout)), {{}, Trailing::keep});
  }
}

// A lone attention cache of today has no place at which it could end early.
TEST(Truncation, NoPieceOfAPlainSlotFileOpens) {
  TinyDump tiny = tiny_dump("ggsq4.streams.rot/kv");
  tiny.checkpoints = tiny.draft = false;
  for (const bool transposed : {false, true}) {
    tiny.transposed = transposed;
    tiny.streams = 1;
    const ByteVector bytes = build(tiny);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto head = std::span(bytes).first(length);
      const bool k_alone = open_bytes(head).dump != nullptr;  // reads as a cache without V
      EXPECT_TRUE(!k_alone || open_bytes(head).dump->state.arrangement == "mla") << length;
    }
  }
}

TEST(Truncation, GenuineFilesAtEveryLength) {
  for (const char* file :
       {"modern/b10256/lfm2.seq0.ggsq", "modern/b11118/llama-fa-iq4_nl.ggsn",
        "history/v8-20240728-4c676c85e-frag-seq1.ggsq", "server/b0.7.0/erased-llama.ggsq",
        "server/b0.7.0/empty-lfm2.ggsq", "server/b0.7.0-library/qwen2vl-multi-unified.seq2.ggsq"}) {
    SCOPED_TRACE(file);
    EXPECT_LE(cut_everywhere(read_file(testdata(file))), 6U);
  }
}

// Around the ends of all tensors and groups of fields.
TEST(Truncation, GenuineFilesNearTheirSeams) {
  for (const auto& path : dumps_below(testdata())) {
    const ByteVector bytes = read_file(path);
    const Outcome whole = open_bytes(bytes);
    if (!whole.dump) continue;  // another family: refused whole as well
    SCOPED_TRACE(path.filename());
    const auto ends = ends_of_fields(*whole.dump);
    for (const MapRange& range : sections_of(*whole.dump))
      for (const std::uint64_t length : {range.offset - 1, range.offset, range.offset + 1})
        if (length < bytes.size()) cut_opens(bytes, static_cast<std::size_t>(length), ends);
  }
}

}  // namespace
}  // namespace kvtool::test
