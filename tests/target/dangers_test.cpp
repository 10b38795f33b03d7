// What no loader notices is said, with the time it is true of, and not said of files without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kvtool/open.h"
#include "kvtool/restore.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using test::testdata;

std::shared_ptr<const Source> file(const std::string& path) {
  return open_source(testdata(path).string());
}

// The same bytes under another version word: plain layouts of 2026 differ in nothing else.
std::shared_ptr<const Source> restamped(const std::string& path, std::uint32_t version) {
  auto bytes = test::read_file(testdata(path));
  std::memcpy(bytes.data() + 4, &version, 4);
  return memory_source(path, bytes);
}

Restore restore(const std::shared_ptr<const Source>& source, Target target) {
  const Dump dump = open_dump(source);
  return predict_restore(*source, &dump, target);
}

bool warns(const Restore& restore, const std::string& code) {
  return std::any_of(restore.warnings.begin(), restore.warnings.end(),
                     [&](const Finding& f) { return f.code == code; });
}

Target loader(const std::string& name) {
  const Loader known = loader_named(name);
  Target target;
  target.era = known.era;
  target.build = known.build;
  return target;
}

TEST(GenuineFiles, LoadIntoATargetLikeThemselves) {
  for (const char* folder : {"server/b0.7.0", "server/b0.7.0-sessions", "modern/b11118"})
    for (const auto& path : test::dumps_below(testdata(folder))) {
      const auto source = open_source(path.string());
      const Dump dump = open_dump(source);
      if (dump.dialect.version == 0) continue;
      // Ids of -1 in a plain list, as the library's clients write them, are for no server.
      if (path.filename() == "qwen2vl-image.seq0.ggsq") continue;
      const Restore r = predict_restore(*source, &dump, target_like(dump));
      EXPECT_EQ(r.outcome, Outcome::loads)
          << path << (r.reasons.empty() ? "" : ": " + r.reasons.front().message);
    }
}

TEST(Dangers, RotationThatNoFileTells) {
  const auto h64 = restamped("modern/b11118/llamah64-fa-q8_0.seq0.ggsq", 2);
  EXPECT_TRUE(warns(restore(h64, loader("2025-10")), "rotation_unknown"));
  EXPECT_TRUE(warns(restore(h64, loader("2026-07")), "rotation_unknown"));
  const auto f16 = restamped("modern/b11118/llamah64-fa-f16.seq0.ggsq", 2);
  EXPECT_FALSE(warns(restore(f16, loader("2025-10")), "rotation_unknown"));
  const auto told = file("server/b0.7.0/gemma3-q8_0.ggsq");
  EXPECT_FALSE(warns(restore(told, loader("0.7.0")), "rotation_unknown"));
}

TEST(Dangers, RowOrderOfMid2025) {
  Target target = loader("9/2-mla");
  const auto ds2 = file("restore/ds2mla-rn-0.6.7.seq0.ggsq");
  target.model = shape_of_model(open_gguf(file("models/deepseek2-mla.gguf")), *target.era);
  EXPECT_TRUE(warns(restore(ds2, target), "mla_row_order"));
  EXPECT_FALSE(
      warns(restore(file("server/b0.7.0/llama-f16.ggsq"), loader("0.7.0")), "mla_row_order"));
}

TEST(Dangers, SessionsOfSeveralStreams) {
  const auto streams = file("modern/b11118/llama-multi-streams.ggsn");
  EXPECT_TRUE(warns(restore(streams, loader("b10645")), "streams_lost"));
  EXPECT_FALSE(warns(restore(streams, loader("b10829")), "streams_lost"));
  const auto one = file("modern/b11118/llama-multi-uni.ggsn");
  EXPECT_FALSE(warns(restore(one, loader("b10645")), "streams_lost"));
}

TEST(Dangers, WindowsAndIndexCaches) {
  Target full = loader("0.7.0");
  const auto gemma3 = file("server/b0.7.0/gemma3.ggsq");
  EXPECT_FALSE(warns(restore(gemma3, full), "window_cut"));
  full.swa_full = true;
  EXPECT_TRUE(warns(restore(gemma3, full), "window_cut"));
  EXPECT_TRUE(warns(restore(file("server/b0.7.0/qwen4exp.ggsq"), loader("0.7.0")), "index_cache"));
}

TEST(Dangers, WithoutCheckpointsEverythingIsComputedAgain) {
  auto bytes = test::read_file(testdata("server/b0.7.0/gemma3.ggsq"));
  bytes.resize(12940);  // where its list of checkpoints begins
  const Restore cut = restore(memory_source("cut", bytes), loader("0.7.0"));
  EXPECT_EQ(cut.next, Aftermath::recomputed);
  EXPECT_TRUE(warns(cut, "no_rewind"));
  const Restore whole = restore(file("server/b0.7.0/gemma3.ggsq"), loader("0.7.0"));
  EXPECT_EQ(whole.next, Aftermath::reused);
  EXPECT_FALSE(warns(whole, "no_rewind"));
}

// Every reason in one run: each setting alone is one reason, all together are all of them.
TEST(Reasons, AreCollected) {
  const auto source = file("server/b0.7.0/llama-f16.ggsq");
  const Dump dump = open_dump(source);
  Target target = target_like(dump);
  target.type_k = ElementType::q8_0;
  target.type_v = ElementType::q4_0;
  target.flash_attention = false;
  target.n_stream = 3;
  const Restore r = predict_restore(*source, &dump, target);
  EXPECT_EQ(r.outcome, Outcome::refused);
  std::vector<std::string> codes;
  for (const Reason& reason : r.reasons) codes.push_back(reason.code);
  EXPECT_EQ(codes, (std::vector<std::string>{"n_stream", "v_trans", "k_type", "v_type"}));
}

}  // namespace
}  // namespace kvtool
