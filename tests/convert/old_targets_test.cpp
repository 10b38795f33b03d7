// Sessions of every version since May 2023 for loaders of every other one, there and back.
// KVTOOL_CORPUS=FOLDER takes the dumps of history/ below it instead of those in testdata/.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "convert/like.h"
#include "convert/old_sessions.h"
#include "format/corpus/sidecar.h"
#include "support/tiny_dump.h"
#include "support/tiny_old_dump.h"
#include "support/views.h"

namespace kvtool::test {
namespace {

bool is_session(const Dump& dump) {
  return dump.dialect.container == Container::session && dump.dialect.version != 0 &&
         !dump.dialect.scrambled;
}

const std::vector<Session>& genuine_sessions() {
  static const std::vector<Session> all = sessions_in(history_folder(), is_session);
  return all;
}

// Files of every header struct, with types that are known.
std::vector<Session> tiny_sessions() {
  std::vector<Session> sessions;
  for (const TinyDump& tiny : tiny_old_dumps()) {
    OpenOptions options;
    options.layout = tiny.layout;
    const bool stored = tiny.dialect.container != Container::session;
    const bool single = tiny.single || tiny.pieces.front() == Piece::recurrent;
    if (!stored) options.k_type = options.v_type = single ? ElementType::f32 : ElementType::f16;
    auto dump =
        std::make_shared<Dump>(open_dump(memory_source(tiny.layout, build_old(tiny)), options));
    dump->state.types_uncertain = false;  // said above
    if (is_session(*dump)) sessions.push_back({tiny.layout, std::move(dump), {}});
  }
  return sessions;
}

using Versions = std::pair<std::uint32_t, std::uint32_t>;
using Counts = std::map<Versions, std::size_t>;

Versions versions_of(const Dump& a, const Dump& b) {
  return {a.dialect.version, b.dialect.version};
}

// Unused cells that the other layout has no place for. (Those of old sessions are listed.)
bool loses_cells(const Dump& a, const Dump& b) {
  const CellTable& cells = main_stream(a).cells;
  bool unused = false;
  for (std::size_t c = 0; c < cells.size(); ++c) unused = unused || cells.sequences(c).empty();
  const bool lists = b.dialect.body != Body::current && b.dialect.body >= Body::cells;
  return unused && !lists;
}

// Left-over memory behind logits: it is only carried between files that have it.
bool loses_filler(const Dump& a, const Dump& b) {
  return a.logits_filler.size != b.logits_filler.size;
}

// A count of used cells that is not that of the cells.
bool loses_count(const Dump& a, const Dump& b) {
  const bool counts = b.dialect.body != Body::current && b.dialect.body >= Body::cells;
  return a.state.old.used_surplus != 0 && (!counts || !b.dialect.used_word);
}

bool can_hold_all(const Dump& a, const Dump& b) {
  return same_tensors(a, b) && !loses_cells(a, b) && !loses_filler(a, b) && !loses_count(a, b);
}

// Reasons for which a conversion may be refused, and nothing else.
void expect_known_refusal(const std::string& refusal) {
  static const std::vector<std::string> known = {"of another model",
                                                 "places of logits",
                                                 "more than ",
                                                 "listed without K and V",
                                                 "hold one sequence",
                                                 "cell i is position i",
                                                 "do not fit into the target's context",
                                                 "had K of type",
                                                 "K and V are of one type",
                                                 "had V of type",
                                                 "as likely as",
                                                 "of type q",
                                                 "--flash-attn on",
                                                 "cell i was the state of sequence i"};
  const bool is_known = std::any_of(known.begin(), known.end(), [&](const std::string& words) {
    return refusal.find(words) != std::string::npos;
  });
  EXPECT_TRUE(is_known) << refusal;
}

// There and back: the rows are there, and the way back gives the first file.
void expect_back(const Session& from, const Session& to, Counts& whole) {
  std::string refusal;
  const auto bytes = bytes_like(from.dump, to.dump, {}, refusal);
  if (!bytes) return expect_known_refusal(refusal);
  const DumpPointer there = opened_like(*bytes, *to.dump);
  EXPECT_EQ(open_dump(memory_source("there", *bytes)).layout, to.dump->layout);
  EXPECT_EQ(there->dialect, to.dump->dialect);
  EXPECT_EQ(there->tokens.words, from.dump->tokens.words);
  if (same_tensors(*from.dump, *to.dump)) {
    EXPECT_EQ(used_contents(*there), used_contents(*from.dump));
  }
  if (!can_hold_all(*from.dump, *to.dump)) return;
  const auto back = bytes_like(there, from.dump, {}, refusal);
  ASSERT_TRUE(back) << refusal;
  EXPECT_TRUE(*back == bytes_of(*from.dump));
  ++whole[versions_of(*from.dump, *to.dump)];
}

Counts there_and_back(const std::vector<Session>& sessions) {
  Counts whole;
  for (const Session& from : sessions)
    for (const Session& to : sessions) {
      if (from.dump == to.dump) continue;
      SCOPED_TRACE(from.name + " like " + to.name);
      expect_back(from, to, whole);
    }
  return whole;
}

void report(const Counts& counts, const char* what) {
  for (const auto& [versions, n] : counts)
    fmt::print("{} -> {}: {} {}\n", versions.first, versions.second, n, what);
}

TEST(OldTargets, GenuineSessionsThereAndBack) {
  const Counts whole = there_and_back(genuine_sessions());
  report(whole, "there and back, the same bytes");
  // Outputs have no places before version 5 and need them since.
  for (const Versions& versions : {Versions{1, 2},
                                   {2, 1},
                                   {2, 3},
                                   {3, 2},
                                   {3, 4},
                                   {4, 3},
                                   {5, 6},
                                   {6, 5},
                                   {6, 7},
                                   {7, 6},
                                   {7, 8},
                                   {8, 7},
                                   {8, 9},
                                   {9, 8},
                                   {5, 9}})
    EXPECT_TRUE(whole.contains(versions)) << versions.first << " to " << versions.second;
}

TEST(OldTargets, EveryHeaderStructThereAndBack) {
  const Counts whole = there_and_back(tiny_sessions());
  report(whole, "tiny ones there and back");
  for (const Versions& versions : {Versions{1, 1}, {2, 2}, {2, 3}, {3, 2}, {4, 4}, {5, 6}, {6, 7}})
    EXPECT_TRUE(whole.contains(versions)) << versions.first << " to " << versions.second;
}

// What a sidecar says of the cells in use, without the parts that differ from age to age.
Json run_of(const Json& sidecar) {
  Json run = Json::array();
  for (const Json& cell : sidecar["cells"]) {
    if (cell["pos"].get<int>() < 0) continue;
    run.push_back({cell["pos"], cell["seqs"], cell["k_crc32"], cell["v_crc32"]});
  }
  return run;
}

// Every used cell of a dump has the row checksums that the sidecar lists, but for those at the end of
// which the builds of 2023 saved none.
void expect_rows_of(const Dump& dump, const Json& sidecar) {
  const Stream& stream = main_stream(dump);
  Ledger ledger;
  std::size_t cell = 0;
  for (const Json& expected : sidecar["cells"]) {
    if (expected["pos"].get<int>() < 0) continue;
    while (cell < stream.cells.size() && stream.cells.position(cell) < 0) ++cell;
    if (cell == stream.cells.size() && !stream.beyond.empty()) break;
    ASSERT_LT(cell, stream.cells.size());
    compare_rows(dump, stream, cell++, expected, ledger);
  }
  EXPECT_EQ(ledger.differences(), std::vector<std::string>());
}

ByteVector extent_of(const Dump& dump, const Extent& extent) {
  return read_extent(dump, extent.offset, extent.size);
}

// The files of two builds that say the same, byte for byte, in all that a layout does not add.
bool same_surroundings(const Dump& a, const Dump& b) {
  if (a.tokens.words != b.tokens.words || !same_tensors(a, b)) return false;
  const Stream& x = main_stream(a);
  const Stream& y = main_stream(b);  // what stands in unused cells is left over, and differs
  if (x.beyond != y.beyond || contents_of(a, x) != contents_of(b, y)) return false;
  if (b.dialect.rng_text && extent_of(a, a.rng) != extent_of(b, b.rng)) return false;
  for (const auto part : {&Outputs::ids, &Outputs::logits, &Outputs::embeddings})
    if (extent_of(a, a.outputs.*part) != extent_of(b, b.outputs.*part)) return false;
  // Recurrent models had counts of used cells that are not those of the cells.
  return a.state.old.used_surplus == b.state.old.used_surplus &&
         (!loses_filler(a, b) || b.logits_filler.size == 0);
}

struct Pairs {
  Counts rows;   // with the rows that the other's sidecar lists
  Counts bytes;  // and its very bytes
};

// Both builds held the same in memory, as their sidecars say: the one's file becomes the other's.
void expect_other(const Session& from, const Session& to, const Json& sidecar, Pairs& pairs) {
  std::string refusal;
  const auto bytes = bytes_like(from.dump, to.dump, {"outputs"}, refusal);
  if (!bytes) return expect_known_refusal(refusal);
  const DumpPointer made = opened_like(*bytes, *to.dump);
  expect_rows_of(*made, sidecar);
  const Versions versions = versions_of(*from.dump, *to.dump);
  ++pairs.rows[versions];
  if (!same_surroundings(*made, *to.dump)) return;
  EXPECT_TRUE(*bytes == bytes_of(*to.dump));
  ++pairs.bytes[versions];
}

TEST(OldTargets, OneRunOfTwoBuildsBecomesTheOther) {
  std::map<std::string, std::vector<std::pair<Session, Json>>> runs;
  for (const Session& session : genuine_sessions())
    if (const auto sidecar = find_sidecar(session.path))
      runs[run_of(sidecar->json).dump()].emplace_back(session, sidecar->json);
  Pairs pairs;
  for (const auto& [run, sessions] : runs)
    for (const auto& [from, unused] : sessions)
      for (const auto& [to, sidecar] : sessions) {
        if (from.dump == to.dump) continue;
        SCOPED_TRACE(from.name + " like " + to.name);
        expect_other(from, to, sidecar, pairs);
      }
  report(pairs.rows, "have the rows of the other's sidecar");
  report(pairs.bytes, "are the other's bytes");
  EXPECT_FALSE(pairs.rows.empty());
  EXPECT_FALSE(pairs.bytes.empty());
}

// The comparison of rows must be able to fail.
TEST(OldTargets, AnotherRowIsNoticed) {
  const Session& session = genuine_sessions().front();
  Json sidecar = find_sidecar(session.path)->json;
  sidecar["cells"][0]["k_crc32"][0] = sidecar["cells"][0]["k_crc32"][0].get<std::uint32_t>() ^ 1U;
  Ledger ledger;
  compare_rows(*session.dump, main_stream(*session.dump), 0, sidecar["cells"][0], ledger);
  EXPECT_EQ(ledger.differences().size(), 1U);
}

}  // namespace
}  // namespace kvtool::test
