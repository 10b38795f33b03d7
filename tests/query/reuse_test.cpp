// What a server reuses of a file: predicted, and measured by llama-server 0.7.0, whose answers lie
// beside its files (cache_n of the first request after a restore).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "kvtool/open.h"
#include "kvtool/prefix.h"
#include "kvtool/stored_prompt.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<TokenId>;

// The vocabulary of the models here has a token for each byte, three behind the byte's value, and
// marks each word with a space of three bytes.
Ids spelled(const std::string& text) {
  Ids ids = {229, 153, 132};
  for (const char c : text)
    if (c == ' ')
      ids.insert(ids.end(), {229, 153, 132});
    else
      ids.push_back(c + 3);
  return ids;
}

struct Measured {
  std::string name;
  std::uint64_t prompt_tokens;
  std::uint64_t cache_n;
  Ids prompt;
};

// The ids of a prompt as far as they are known: all of them when its text is spelled out, else
// those of the longest prompt before that it begins with. An id that no prompt has fills it up.
Ids prompt_ids(const Json& sidecar, const std::string& text, std::uint64_t length) {
  Ids ids = spelled(text);
  if (ids.size() != length) ids.clear();
  for (const Json& turn : sidecar.value("turns", Json::array()))
    if (turn.contains("prompt_tokens") && text.starts_with(turn["body"]["prompt"].get<std::string>()) &&
        turn["prompt_tokens"].size() > ids.size())
      ids = turn["prompt_tokens"].get<Ids>();
  ids.resize(length, 2);
  return ids;
}

std::vector<Measured> measurements() {
  std::vector<Measured> all;
  for (const auto& file : test::dumps_below(test::testdata("server/b0.7.0"))) {
    std::ifstream in(std::filesystem::path(file).replace_extension(".json"));
    const Json sidecar = Json::parse(in);
    const Json next = sidecar.value("/restore/then_completion"_json_pointer, Json());
    if (!next.is_object() || !sidecar.contains("tokens")) continue;
    const Json& body = next["response"]["body"];
    const std::uint64_t length = body["tokens_evaluated"];
    all.push_back({file.string(), length, body["timings"]["cache_n"],
                   prompt_ids(sidecar, next["prompt"], length)});
  }
  return all;
}

std::uint64_t shared_with(const Dump& dump, const Ids& prompt) {
  MediaIndex media;
  return first_difference(symbols_of(dump.tokens, media), Ids(prompt), media).tokens;
}

TEST(Reuse, AsTheServerMeasured) {
  const auto all = measurements();
  EXPECT_GE(all.size(), 15U);
  for (const bool skim : {false, true})
    for (const Measured& m : all) {
      OpenOptions options;
      options.skim = skim;
      const Dump dump = open_dump(m.name, options);
      const Reuse reuse =
          reuse_of(stored_prompt(dump), shared_with(dump, m.prompt), m.prompt_tokens);
      EXPECT_EQ(reuse.reused, m.cache_n) << m.name << ": " << reuse.reason;
      EXPECT_EQ(reuse.recomputed, m.prompt_tokens - m.cache_n);
    }
}

StoredPrompt stored(std::uint64_t tokens) {
  StoredPrompt prompt;
  prompt.tokens = prompt.cells = tokens;
  prompt.has_cache = true;
  return prompt;
}

TEST(Reuse, AttentionIsCutAnywhere) {
  EXPECT_EQ(reuse_of(stored(34), 29, 54).reused, 29U);
  EXPECT_EQ(reuse_of(stored(34), 34, 54).reused, 34U);
  EXPECT_EQ(reuse_of(stored(34), 1, 2).reused, 1U);
  EXPECT_EQ(reuse_of(stored(0), 0, 5).reused, 0U);
  EXPECT_EQ(reuse_of(stored(34), 0, 0).recomputed, 0U);
  EXPECT_TRUE(reuse_of(stored(34), 29, 54).reason.empty());
}

TEST(Reuse, OneTokenIsAlwaysComputed) {
  EXPECT_EQ(reuse_of(stored(34), 34, 34).reused, 33U);
  EXPECT_EQ(reuse_of(stored(34), 20, 20).reused, 19U);
  EXPECT_EQ(reuse_of(stored(34), 20, 20).recomputed, 1U);
}

TEST(Reuse, RecurrentStateGoesOnOnlyFromItsEndOrACheckpoint) {
  StoredPrompt mamba = stored(34);
  mamba.has_cache = false;
  mamba.rewind.recurrent = true;
  EXPECT_EQ(reuse_of(mamba, 34, 54).reused, 34U);
  EXPECT_EQ(reuse_of(mamba, 33, 54).reused, 0U);
  EXPECT_EQ(reuse_of(mamba, 34, 34).reused, 0U);  // one step back is one too many
  mamba.rewind.checkpoints = {{10, 9, 9}, {25, 24, 24}};
  EXPECT_EQ(reuse_of(mamba, 33, 54).reused, 25U);
  EXPECT_EQ(reuse_of(mamba, 25, 54).reused, 25U);
  EXPECT_EQ(reuse_of(mamba, 24, 54).reused, 10U);
  EXPECT_EQ(reuse_of(mamba, 24, 54).checkpoint, 0U);
  EXPECT_EQ(reuse_of(mamba, 9, 54).reused, 0U);
}

TEST(Reuse, WindowThatReachesBackToTheStartIsCutAnywhere) {
  StoredPrompt gemma = stored(34);
  gemma.rewind.window_begin = 0;
  gemma.rewind.window_span = 34;
  EXPECT_EQ(reuse_of(gemma, 29, 54).reused, 29U);
  gemma.rewind.window_begin = 1;
  gemma.rewind.window_span = 33;
  EXPECT_EQ(reuse_of(gemma, 29, 54).reused, 0U);
  EXPECT_EQ(reuse_of(gemma, 34, 54).reused, 34U);
}

// A window beside a recurrent state: the checkpoint at 25 begins behind what the window needs, as
// measured for lfm2 with a window.
TEST(Reuse, WindowAndRecurrentStateNeedMore) {
  StoredPrompt both = stored(34);
  both.rewind.recurrent = true;
  both.rewind.window_begin = 22;
  both.rewind.window_span = 12;
  both.rewind.checkpoints = {{25, 24, 24}};
  EXPECT_EQ(reuse_of(both, 29, 54).reused, 0U);
  EXPECT_EQ(reuse_of(both, 34, 54).reused, 34U);
}

TEST(Reuse, NoMoreThanThereAreCells) {
  StoredPrompt short_of_cells = stored(1108);
  short_of_cells.cells = 1107;
  EXPECT_EQ(reuse_of(short_of_cells, 1108, 1200).reused, 1107U);
  short_of_cells.cells = 0;
  const Reuse nothing = reuse_of(short_of_cells, 1108, 1200);
  EXPECT_EQ(nothing.reused, 0U);
  EXPECT_FALSE(nothing.reason.empty());
}

}  // namespace
}  // namespace kvtool
