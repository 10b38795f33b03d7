// best: the same answer as looking at every entry, and only a few look-ups.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kvtool/open.h"
#include "kvtool/sequences.h"
#include "kvtool/write.h"
#include "store/store_folder.h"
#include "support/made_dump.h"

namespace kvtool::test {
namespace {

// The made dump with other tokens.
std::shared_ptr<const Dump> with_tokens(const Shape& shape, const std::vector<TokenId>& ids) {
  Dump facts = made_facts(shape);
  facts.tokens = decode_tokens(ids);
  MemorySink sink;
  write_made(facts, shape.seed, sink);
  return std::make_shared<const Dump>(open_dump(memory_source("made", sink.bytes())));
}

Shape slot(std::size_t cells) {
  Shape shape = slot_shape(static_cast<std::uint32_t>(cells), 32);
  shape.layers = 1;
  return shape;
}

// Prompts that share beginnings of all lengths: few different ids.
std::vector<TokenId> random_prompt(std::mt19937& random, std::size_t most) {
  std::vector<TokenId> ids(1 + random() % most);
  for (TokenId& id : ids) id = static_cast<TokenId>(random() % 3);
  return ids;
}

std::uint64_t most_reused(Store& store, const std::vector<TokenId>& prompt,
                          const std::vector<std::vector<TokenId>>& prompts) {
  std::uint64_t best = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto end = std::ranges::mismatch(prompts[i], prompt).in1;
    const auto shared = static_cast<std::uint64_t>(end - prompts[i].begin());
    const StoreEntry entry = store.entry(std::to_string(i));
    best = std::max(best, reuse_of(entry.prompt, shared, prompt.size()).reused);
  }
  return best;
}

void expect_as_by_hand(const Shape& shape) {
  std::mt19937 random(7);
  const StoreFolder where;
  Store store = where.open();
  std::vector<std::vector<TokenId>> prompts;
  for (std::size_t i = 0; i < 40; ++i) {
    prompts.push_back(random_prompt(random, 24));
    Shape of_this = shape;
    of_this.cells = static_cast<std::uint32_t>(prompts.back().size());
    of_this.window = std::min(shape.window, of_this.cells);
    store.put(std::to_string(i), *with_tokens(of_this, prompts.back()));
  }
  for (std::size_t i = 0; i < 200; ++i) {
    const std::vector<TokenId> prompt = random_prompt(random, 30);
    const BestReport report = store.best(decode_tokens(prompt));
    const std::uint64_t found =
        report.candidates.empty() ? 0 : report.candidates.front().reuse.reused;
    EXPECT_EQ(found, most_reused(store, prompt, prompts)) << i;
  }
}

TEST(StoreBest, AsByHand) { expect_as_by_hand(slot(1)); }

TEST(StoreBest, AsByHandWithWindows) {
  Shape shape = slot(1);
  shape.window = 4;
  expect_as_by_hand(shape);
}

TEST(StoreBest, AsByHandWithStatesAndCheckpoints) {
  Shape shape = slot(1);
  shape.recurrent = true;
  shape.checkpoints = 2;
  expect_as_by_hand(shape);
}

TEST(StoreBest, AsByHandAfterRemovals) {
  std::mt19937 random(8);
  const StoreFolder where;
  Store store = where.open();
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::string> left;
  for (std::size_t i = 0; i < 40; ++i) {
    prompts.push_back(random_prompt(random, 24));
    store.put(std::to_string(i), *with_tokens(slot(prompts.back().size()), prompts.back()));
  }
  for (std::size_t i = 0; i < 40; ++i) {
    store.remove(std::to_string(i));
    const std::vector<TokenId> prompt = random_prompt(random, 30);
    std::uint64_t best = 0;
    for (std::size_t j = i + 1; j < 40; ++j) {
      const auto end = std::ranges::mismatch(prompts[j], prompt).in1;
      const auto shared = static_cast<std::uint64_t>(end - prompts[j].begin());
      best =
          std::max(best,
                   reuse_of(store.entry(std::to_string(j)).prompt, shared, prompt.size()).reused);
    }
    const BestReport report = store.best(decode_tokens(prompt));
    EXPECT_EQ(report.candidates.empty() ? 0 : report.candidates.front().reuse.reused, best);
  }
  EXPECT_TRUE(store.entries().empty());
}

TEST(StoreBest, TakesAFewLookUps) {
  const StoreFolder where;
  Store store = where.open();
  std::mt19937 random(9);
  std::vector<TokenId> system(50);
  for (TokenId& id : system) id = static_cast<TokenId>(random() % 1000);
  for (std::size_t i = 0; i < 200; ++i) {
    std::vector<TokenId> ids = system;
    for (std::size_t t = 0; t < 50; ++t) ids.push_back(static_cast<TokenId>(random() % 100'000));
    store.put(std::to_string(i), *with_tokens(slot(ids.size()), ids));
  }
  std::vector<TokenId> prompt = system;
  prompt.push_back(7);
  const std::uint64_t before = store.queries();
  const BestReport report = store.best(decode_tokens(prompt));
  EXPECT_LE(store.queries() - before, 16U);
  EXPECT_EQ(report.candidates.front().reuse.reused, system.size());
}

}  // namespace
}  // namespace kvtool::test
