// What a server reuses of a file: predicted, and measured by llama-server 0.7.0, whose answers lie
// beside its files (cache_n of the first request after a restore).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "kvtool/open.h"
#include "kvtool/prefix.h"
#include "kvtool/restore.h"
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

// One look at the server: a prompt of `prompt` tokens that shares `shared` with the file.
struct Look {
  std::string file;
  std::string model;
  std::uint32_t window;  // of the model's window layers; 0: it has none
  bool swa_full;         // the server ran with --swa-full
  std::uint64_t shared;
  std::uint64_t prompt;
  std::uint64_t cache_n;
};

std::vector<Look> looks() {
  std::ifstream in(test::testdata("restore/b0.7.0-reuse/measured.json"));
  std::vector<Look> all;
  for (const Json& j : Json::parse(in))
    all.push_back({j["file"], j["model"], j["window"], j["swa_full"], j["shared"], j["prompt"],
                   j["cache_n"]});
  return all;
}

std::string text(const Look& look) {
  return look.file + ": " + std::to_string(look.shared) + " of " + std::to_string(look.prompt);
}

// Every place at which a prompt can part from a file: near its end, its checkpoints, its window.
TEST(Reuse, AtEveryPlaceAsTheServerMeasured) {
  EXPECT_GE(looks().size(), 150U);
  for (const bool skim : {false, true})
    for (const Look& look : looks()) {
      if (look.swa_full) continue;  // no file says with what settings it will be read
      OpenOptions options;
      options.skim = skim;
      const StoredPrompt prompt = stored_prompt(open_dump(test::testdata(look.file).string(), options));
      const Reuse reuse = reuse_of(prompt, look.shared, look.prompt);
      EXPECT_EQ(reuse.reused, look.cache_n) << text(look) << ": " << reuse.reason;
    }
}

// `check` with a prompt says the same, knowing the model and the settings.
TEST(Reuse, CheckForALoaderAgreesWithTheServer) {
  for (const Look& look : looks()) {
    const auto dump = std::make_shared<const Dump>(open_dump(test::testdata(look.file).string()));
    Target target;
    target.era = era_of_loader("0.7.0");
    target.type_k = target.type_v = ElementType::f16;
    target.flash_attention = true;
    target.n_ctx = 256;
    target.parallel = 1;
    target.swa_full = look.swa_full;
    target.model = shape_of_model(
        open_gguf(open_source(test::testdata("models/" + look.model).string())), *target.era);
    for (auto& cache : target.model->caches)
      if (cache.window > 0) cache.window = look.window;
    RestoreOptions options;
    options.prompt = dump->tokens.ids;
    options.prompt->resize(look.shared);
    options.prompt->resize(look.prompt, -7);
    const Restore restore = predict_restore(*dump->source, dump.get(), target, options);
    EXPECT_EQ(restore.reused, look.cache_n) << text(look);
    EXPECT_EQ(name_of(restore.next), look.cache_n > 0 ? "reused" : "recomputed") << text(look);
  }
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
  mamba.rewind.oldest = 33;
  EXPECT_EQ(reuse_of(mamba, 34, 54).reused, 34U);
  EXPECT_EQ(reuse_of(mamba, 33, 54).reused, 0U);
  EXPECT_EQ(reuse_of(mamba, 34, 34).reused, 0U);  // one step back is one too many
  mamba.rewind.checkpoints = {{10, 9, 9}, {25, 24, 24}};
  EXPECT_EQ(reuse_of(mamba, 33, 54).reused, 25U);
  EXPECT_EQ(reuse_of(mamba, 25, 54).reused, 25U);
  EXPECT_EQ(reuse_of(mamba, 25, 25).reused, 10U);
  EXPECT_EQ(reuse_of(mamba, 24, 54).reused, 10U);
  EXPECT_EQ(reuse_of(mamba, 24, 54).checkpoint, 0U);
  EXPECT_EQ(reuse_of(mamba, 9, 54).reused, 0U);
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
