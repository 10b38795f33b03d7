// What kvtool makes of a file, against what llama.cpp itself saved after it did the same to its cache.
// KVTOOL_CORPUS=FOLDER adds the pairs below it.
#include <algorithm>
#include <set>

#include "edit/edited.h"
#include "kvtool/compare.h"
#include "kvtool/extract.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

using namespace test;
namespace fs = std::filesystem;

// How far K may be from llama.cpp's, as a part of its length: a rounding of f16 here and there.
constexpr double k_tolerance = 1e-3;
constexpr double far_off = 0.05;

DumpPtr dump_at(const fs::path& path) {
  return std::make_shared<const Dump>(open_dump(path.string()));
}

// All dumps that may have a partner, below testdata/ and the corpus.
std::vector<fs::path> all_dumps() {
  std::vector<fs::path> dumps = dumps_below(testdata());
  if (const char* corpus = std::getenv("KVTOOL_CORPUS"))
    for (const fs::path& path : dumps_below(corpus)) dumps.push_back(path);
  return dumps;
}

// "a/b-shift-applied.ggsn", "-shift-applied", "-frag" -> "a/b-frag.ggsn".
fs::path partner(const fs::path& path, const std::string& part, const std::string& other) {
  std::string name = path.filename().string();
  return path.parent_path() / name.replace(name.find(part), part.size(), other);
}

std::vector<fs::path> named_like(const std::string& part) {
  std::vector<fs::path> paths;
  for (const fs::path& path : all_dumps())
    if (path.filename().string().find(part) != std::string::npos) paths.push_back(path);
  return paths;
}

PositionOptions norm_ropes(const Dump& dump, RopePairs pairs = RopePairs::neighbours) {
  RopeOptions options;
  options.pairs = pairs;
  options.base = 10000;
  options.head = 32;
  return {0, std::make_shared<RopeFacts>(rope_of_options(dump, options))};
}

// Sequence 0 loses positions [begin, end), and what is behind comes forward.
DumpPtr closed(const DumpPtr& dump, Position begin, Position end, const PositionOptions& options) {
  SequenceEdit edit = SequenceEdit::of(dump);
  const std::vector<PositionRange> removed = {{begin, end}};
  change_positions(edit, {0, removed, closing_moves(removed)}, options);
  return written(edit.plan);
}

// Builds of before March 2024 list cells whose K and V they did not save.
bool lacks_cells(const Dump& dump) {
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      if (!stream.beyond.empty()) return true;
  return false;
}

// --- a beginning that is cut off, and the rest shifted ---

// In `frag` the first three cells are shared, and the cut takes sequence 0 out of them: nothing that
// moves is anybody else's.
TEST(LivePairs, ShiftsOfOldBuildsAreTheSameBytes) {
  std::size_t pending = 0;
  std::size_t applied = 0;
  for (const fs::path& path : named_like("-shift-")) {
    const bool turned = path.filename().string().find("applied") != std::string::npos;
    const fs::path before_path = partner(path, turned ? "-shift-applied" : "-shift-pending", "-frag");
    if (!fs::exists(before_path)) continue;
    SCOPED_TRACE(path);
    const DumpPtr before = dump_at(before_path);
    const DumpPtr theirs = dump_at(path);
    if (lacks_cells(*theirs)) continue;
    const auto ours = [&](const PositionOptions& options) {
      return bytes_of(*closed(before, 0, 3, options));
    };
    const ByteVector expected = bytes_of(*theirs);
    EXPECT_EQ(ours(turned ? norm_ropes(*before) : PositionOptions{}), expected);
    EXPECT_NE(ours(turned ? PositionOptions{} : norm_ropes(*before)), expected);
    EXPECT_NE(ours(norm_ropes(*before, RopePairs::halves)), expected);
    ++(turned ? applied : pending);
  }
  EXPECT_GE(pending, 1U);
  EXPECT_GE(applied, 1U);
}

// --- a gap that is closed ---

// K of cells that both hold, all layers together; V must be equal.
double k_distance(const Dump& ours, const Dump& theirs) {
  CompareOptions options;
  options.sequence = 0;
  double worst = 0;
  for (const TensorComparison& tensor : compare(ours, theirs, options).tensors) {
    if (tensor.is_v) EXPECT_EQ(tensor.equal_cells, tensor.cells);
    else worst = std::max(worst, tensor.relative_l2);
  }
  return worst;
}

std::set<Position> positions_of(const Dump& dump, SequenceId id) {
  const std::vector<Position> list = positions(dump, 0, id);
  return {list.begin(), list.end()};
}

// With a stream for each sequence there is nothing that they share.
TEST(LivePairs, AGapInAStreamOfItsOwn) {
  for (const fs::path& path : named_like("llama-shift-pending-streams.ggsn")) {
    SCOPED_TRACE(path);
    const DumpPtr before = dump_at(partner(path, "shift-pending", "multi"));
    EXPECT_EQ(bytes_of(*closed(before, 5, 9, {})), bytes_of(*dump_at(path)));
    EXPECT_NE(bytes_of(*closed(before, 5, 8, {})), bytes_of(*dump_at(path)));
  }
}

// Sequence 0 shares positions 9 to 11 with sequence 1. llama_memory_seq_add moves the cells, and with
// them sequence 1, which then has positions 5 to 7 twice and a hole. kvtool leaves sequence 1 what it
// had. So sequence 0 is compared with llama.cpp's, and the others with what they were.
void expect_only_sequence_0_moved(const Dump& ours, const Dump& before, const Dump& theirs) {
  for (const SequenceId id : {1, 2}) EXPECT_EQ(seen(ours, 0, id), seen(before, 0, id));
  EXPECT_EQ(seen(theirs, 0, 2), seen(before, 0, 2));
  std::set<Position> hole = positions_of(before, 1);
  for (const Position p : positions_of(theirs, 1)) hole.erase(p);
  EXPECT_EQ(hole, (std::set<Position>{9, 10, 11}));
}

TEST(LivePairs, AGapBesideASequenceThatSharesCells) {
  for (const fs::path& path : named_like("llama-shift-pending-uni.ggsn")) {
    SCOPED_TRACE(path);
    const DumpPtr before = dump_at(partner(path, "shift-pending", "multi"));
    const DumpPtr theirs = dump_at(path);
    const DumpPtr ours = closed(before, 5, 9, {});
    expect_only_sequence_0_moved(*ours, *before, *theirs);
    EXPECT_EQ(seen(*ours, 0, 0), seen(*theirs, 0, 0));
    EXPECT_NE(seen(*closed(before, 5, 9, norm_ropes(*before)), 0, 0), seen(*theirs, 0, 0));
  }
}

// The same after K was turned, which took another two tokens.
TEST(LivePairs, AGapAfterKWasTurned) {
  for (const fs::path& path : named_like("llama-shift-applied-uni.ggsn")) {
    SCOPED_TRACE(path);
    const DumpPtr before = dump_at(partner(path, "shift-applied", "multi"));
    const DumpPtr theirs = dump_at(path);
    const DumpPtr ours = closed(before, 5, 9, norm_ropes(*before));
    expect_only_sequence_0_moved(*ours, *before, *theirs);
    std::set<Position> later = positions_of(*theirs, 0);
    for (const Position p : positions_of(*ours, 0)) EXPECT_EQ(later.erase(p), 1U);
    EXPECT_EQ(later, (std::set<Position>{16, 17}));
    EXPECT_LE(k_distance(*ours, *theirs), k_tolerance);
    EXPECT_GT(k_distance(*closed(before, 5, 9, {}), *theirs), far_off);
    const PositionOptions wrong = norm_ropes(*before, RopePairs::halves);
    EXPECT_GT(k_distance(*closed(before, 5, 9, wrong), *theirs), far_off);
  }
}

// --- one sequence of a session ---

std::size_t window_cells(const Dump& dump, std::optional<SequenceId> id) {
  std::size_t cells = 0;
  for (const Memory& memory : dump.state.memories)
    for (const Stream& stream : memory.streams)
      for (std::size_t c = 0; memory.role == "window" && c < stream.cells.size(); ++c) {
        const auto ids = stream.cells.sequences(c);
        if (!id || std::ranges::find(ids, *id) != ids.end()) ++cells;
      }
  return cells;
}

// How far the models of these files look back. Sequence files leave out what is masked since June
// 2026, so some hold fewer cells than the session beside them.
std::uint32_t window_in(const Dump& session, SequenceId id, const Dump& file) {
  return window_cells(file, std::nullopt) < window_cells(session, id) ? 12 : 0;
}

// X.seq1.ggsq, or X-seq1.ggsq, of X.ggsn: the session and the id.
std::optional<std::pair<fs::path, SequenceId>> session_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at = name.rfind("seq");
  if (path.extension() != ".ggsq" || at == std::string::npos || at == 0) return std::nullopt;
  const fs::path session = path.parent_path() / (name.substr(0, at - 1) + ".ggsn");
  if (!fs::exists(session)) return std::nullopt;
  return std::pair{session, static_cast<SequenceId>(std::stoi(name.substr(at + 3)))};
}

// What the caller of llama_state_seq_save_file gives it as tokens is its own affair; kvtool is given
// the same.
TEST(LivePairs, ExtractedSequencesAreTheSameBytes) {
  std::size_t same = 0;
  for (const fs::path& path : all_dumps()) {
    const auto session = session_of(path);
    if (!session) continue;
    SCOPED_TRACE(path);
    const DumpPtr theirs = dump_at(path);
    const DumpPtr whole = dump_at(session->first);
    const std::uint32_t window = window_in(*whole, session->second, *theirs);
    SequenceEdit edit = extract_sequence(whole, session->second, {std::nullopt, window});
    edit.plan.target.tokens = theirs->tokens;
    EXPECT_EQ(bytes_of(*written(edit.plan)), bytes_of(*theirs));
    ++same;
  }
  EXPECT_GE(same, 10U);
}

}  // namespace
}  // namespace kvtool
