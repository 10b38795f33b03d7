// Rotated or not, as `check` and `inspect` show it: never wrong on any genuine file whose writer knew,
// without being told the size of its heads, and undecided only with a reason. KVTOOL_CORPUS=FOLDER adds the dumps below it.
#include "kvtool/rotation_evidence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kvtool/check.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

using nlohmann::json;

const std::string rotated_file = "trained/h128-q8_0-256.ggsq";
const std::string plain_file = "trained/h128-q8_0-plain-256.ggsq";

// Nothing where the dump is of another family or too old.
std::optional<Dump> opened(const std::filesystem::path& path) {
  try {
    return open_dump(path.string());
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::filesystem::path> all_dumps() {
  auto paths = dumps_below(testdata());
  if (const char* more = std::getenv("KVTOOL_CORPUS"))
    for (const auto& path : dumps_below(more)) paths.push_back(path);
  return paths;
}

// The fork's server was told to rotate, or not to, when it was started.
std::optional<bool> told_to_rotate(std::filesystem::path path) {
  std::ifstream in(path.replace_extension(".json").string());
  const auto sidecar = json::parse(in, nullptr, false);
  if (sidecar.is_discarded() || !sidecar.contains("command")) return std::nullopt;
  const json& words = sidecar["command"];
  return std::find(words.begin(), words.end(), "-khad") != words.end();
}

// What the writer of a file knew of the K of one of its memories.
std::optional<bool> known_rotated(const Dump& dump, std::size_t memory,
                                  const std::filesystem::path& path) {
  if (dump.dialect.rotation) {
    const auto& streams = dump.state.memories[memory].streams;
    return std::any_of(streams.begin(), streams.end(),
                       [](const Stream& s) { return !s.cells.empty() && s.rot_k != 0; });
  }
  if (dump.dialect.family == Family::ik_llama) return told_to_rotate(path);
  std::ifstream in(path.string() + ".json");
  const auto sidecar = json::parse(in, nullptr, false);
  if (sidecar.is_discarded()) return std::nullopt;
  if (sidecar.contains("rotated")) return sidecar["rotated"].get<bool>();
  if (!sidecar.contains("memory") || memory >= sidecar["memory"].size()) return std::nullopt;
  const json& cache = sidecar["memory"][memory];
  if (!cache.contains("attn_rot_k")) return std::nullopt;
  return cache["attn_rot_k"].get<bool>();
}

struct Tally {
  int caches = 0;
  int decided = 0;
};

void judge(const CacheEvidence& e, bool rotated, const std::string& name, Tally& tally) {
  fmt::print("{} memory {}: {} {}\n", name, e.memory, rotated ? "rotated;" : "plain;  ", words_of(e));
  ++tally.caches;
  EXPECT_EQ(e.verdict == Rotation::undecided, !e.reason.empty());
  if (e.verdict == Rotation::undecided) return;
  EXPECT_EQ(e.verdict == Rotation::rotated, rotated);
  ++tally.decided;
}

TEST(CacheEvidence, IsNeverWrongOnGenuineFiles) {
  Tally tally;
  for (const auto& path : all_dumps()) {
    SCOPED_TRACE(path);
    const auto dump = opened(path);
    if (!dump) continue;
    for (const CacheEvidence& e : rotation_evidence(*dump, {.also_told = true}))
      if (const auto rotated = known_rotated(*dump, e.memory, path))
        judge(e, *rotated, path.filename().string(), tally);
  }
  fmt::print("{} caches, {} decided\n", tally.caches, tally.decided);
  EXPECT_GE(tally.caches, 6);
  EXPECT_GE(tally.decided, 2);
}

// Heads of 128: blocks of 64 alone would show nothing (0.98 was measured).
TEST(CacheEvidence, TriesLargerBlocks) {
  for (const auto& file : {rotated_file, plain_file}) {
    const auto list = rotation_evidence(open_dump(testdata(file).string()));
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].block, 128U) << file;
    EXPECT_EQ(list[0].cells, 256U);
  }
}

TEST(CacheEvidence, FewCellsDecideNothing) {
  const auto list = rotation_evidence(open_dump(testdata(rotated_file).string()), {.most_cells = 31});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].verdict, Rotation::undecided);
  EXPECT_EQ(list[0].reason, "undecided below 32 cells");
}

TEST(CacheEvidence, OnlyWhereThereIsAQuestion) {
  const auto count = [](const char* file) {
    return rotation_evidence(open_dump(testdata(file).string())).size();
  };
  EXPECT_EQ(count("modern/b11118/llamah64-fa-f16.seq0.ggsq"), 0U);  // not quantized
  EXPECT_EQ(count("server/b4748/llamah64-q8_0-fa.ggsq"), 0U);       // older than rotation
  EXPECT_EQ(count("modern/b11118/llamah64-fa-q8_0.seq0.ggsq"), 1U);
}

bool has(const std::vector<Finding>& findings, const std::string& code) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.code == code; });
}

TEST(CacheEvidence, IsANoteOfADeepCheck) {
  const Dump dump = open_dump(testdata(plain_file).string());
  EXPECT_FALSE(has(check(dump), "rotation_evidence"));
  EXPECT_TRUE(has(check(dump, {true}), "rotation_evidence"));
}

// A file of today that says the contrary of what its values look like.
TEST(CacheEvidence, ContradictsTheWordsOfAFile) {
  Dump dump = open_dump(testdata(plain_file).string());
  dump.dialect.rotation = true;
  EXPECT_FALSE(has(check(dump, {true}), "rotation_contradicted"));
  for (Stream& stream : dump.state.memories[0].streams) stream.rot_k = 128;
  EXPECT_TRUE(has(check(dump, {true}), "rotation_contradicted"));
}

}  // namespace
}  // namespace kvtool::test
