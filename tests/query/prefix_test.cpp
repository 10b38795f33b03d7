// The tree of prompts: against lists whose common beginnings are known by arithmetic, and against
// the files of servers, which said how much of a prompt they had already.
#include "kvtool/prefix.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

using Symbols = std::vector<Symbol>;
using Indices = std::vector<PrefixTree::PromptIndex>;

// The first `shared` numbers from 100 on, then numbers of its own.
Symbols prompt(std::size_t shared, std::size_t length, Symbol own) {
  Symbols symbols(length, own);
  std::iota(symbols.begin(), symbols.begin() + static_cast<std::ptrdiff_t>(shared), 100);
  return symbols;
}

PrefixTree tree_of(const std::vector<Symbols>& prompts, const MediaIndex& media = {}) {
  PrefixTree tree;
  for (const Symbols& symbols : prompts) tree.add(symbols, media);
  return tree;
}

Indices all_of(const PrefixTree& tree) {
  Indices all(tree.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// The plain way, for comparison.
std::uint64_t common(const Symbols& a, const Symbols& b) {
  std::uint64_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

TEST(PrefixTree, EdgeLengths) {
  const PrefixTree tree = tree_of({prompt(50, 80, 1), prompt(50, 80, 1), prompt(80, 80, 0),
                                   prompt(79, 80, 2), prompt(50, 50, 0), {}, {7}, {100}});
  EXPECT_EQ(tree.shared(0, 1), 80U);  // equal lists
  EXPECT_EQ(tree.shared(0, 2), 50U);
  EXPECT_EQ(tree.shared(2, 3), 79U);  // all but the last token
  EXPECT_EQ(tree.shared(4, 0), 50U);  // a strict prefix
  EXPECT_EQ(tree.shared(5, 0), 0U);   // nothing against anything
  EXPECT_EQ(tree.shared(5, 5), 0U);
  EXPECT_EQ(tree.shared(6, 0), 0U);   // the first token differs
  EXPECT_EQ(tree.shared(7, 3), 1U);   // one token shared
  EXPECT_EQ(tree.tokens(3), 80U);
  EXPECT_EQ(tree.tokens(5), 0U);
}

TEST(PrefixTree, AgreesWithThePlainWayOnRandomLists) {
  std::mt19937 random(7);
  std::vector<Symbols> prompts;
  for (int i = 0; i < 120; ++i) {
    Symbols symbols(random() % 30);
    for (Symbol& symbol : symbols) symbol = static_cast<Symbol>(random() % 2);
    prompts.push_back(symbols);
  }
  const PrefixTree tree = tree_of(prompts);
  for (std::uint32_t a = 0; a < prompts.size(); ++a) {
    const auto row = tree.shared_with_all(a);
    for (std::uint32_t b = 0; b < prompts.size(); ++b) {
      ASSERT_EQ(tree.shared(a, b), common(prompts[a], prompts[b])) << a << " " << b;
      ASSERT_EQ(row[b], tree.shared(a, b));
    }
  }
}

TEST(PrefixTree, KeepsEveryBeginningOnce) {
  std::vector<Symbols> prompts;
  for (Symbol own = 0; own < 100; ++own) prompts.push_back(prompt(4000, 4010, own));
  EXPECT_EQ(tree_of(prompts).symbols_held(), 4000U + 100U * 10U);
}

TEST(PrefixTree, OrderKeepsNeighboursTogetherAndElseTheOrderOfAdding) {
  const PrefixTree tree = tree_of({prompt(10, 20, 1), {5}, prompt(15, 20, 2), {5, 6}});
  EXPECT_EQ(tree.order(), (Indices{0, 2, 1, 3}));
}

// Four prompts of a known tree: 50 tokens in all of them, 80 in two.
TEST(PrefixGroups, KnownTree) {
  const PrefixTree tree =
      tree_of({prompt(50, 90, 1), prompt(80, 100, 2), {1, 2, 3}, prompt(80, 120, 3), prompt(50, 60, 4)});
  const auto groups = groups_of(tree, all_of(tree));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].shared, 50U);
  EXPECT_EQ(groups[0].members, 4U);
  EXPECT_EQ(groups[0].prompts, (Indices{0, 4}));
  EXPECT_EQ(groups[0].level, 0U);
  EXPECT_EQ(groups[1].shared, 80U);
  EXPECT_EQ(groups[1].members, 2U);
  EXPECT_EQ(groups[1].prompts, (Indices{1, 3}));
  EXPECT_EQ(groups[1].level, 1U);
  EXPECT_EQ(groups[1].parent, 0U);
}

TEST(PrefixGroups, AGrowingChatIsGroupsWithinGroups) {
  const PrefixTree tree = tree_of({prompt(30, 30, 0), prompt(10, 10, 0), prompt(20, 20, 0)});
  const auto groups = groups_of(tree, all_of(tree));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].shared, 10U);
  EXPECT_EQ(groups[0].prompts, (Indices{1}));
  EXPECT_EQ(groups[1].shared, 20U);
  EXPECT_EQ(groups[1].prompts, (Indices{2, 0}));
}

TEST(PrefixGroups, LeastAndChoiceLeaveOut) {
  const PrefixTree tree = tree_of({prompt(50, 90, 1), prompt(80, 90, 2), prompt(80, 90, 3), {}, {}});
  EXPECT_EQ(groups_of(tree, all_of(tree), 51).size(), 1U);
  EXPECT_EQ(groups_of(tree, all_of(tree), 81).size(), 0U);
  const auto chosen = groups_of(tree, {0, 2});
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0].shared, 50U);
  EXPECT_EQ(groups_of(tree, {3, 4}).size(), 0U);  // empty lists share nothing
}

// On random trees: each pair's shared length is that of the innermost group that holds both.
TEST(PrefixGroups, InnermostGroupOfAPairIsWhatItShares) {
  std::mt19937 random(11);
  std::vector<Symbols> prompts;
  for (int i = 0; i < 60; ++i) {
    Symbols symbols(random() % 12);
    for (Symbol& symbol : symbols) symbol = static_cast<Symbol>(random() % 2);
    prompts.push_back(symbols);
  }
  const PrefixTree tree = tree_of(prompts);
  const auto groups = groups_of(tree, all_of(tree));
  std::vector<std::vector<bool>> holds(groups.size(), std::vector<bool>(prompts.size()));
  for (std::size_t g = groups.size(); g-- > 0;) {
    for (const auto p : groups[g].prompts) holds[g][p] = true;
    if (groups[g].level == 0) continue;
    for (std::size_t p = 0; p < prompts.size(); ++p)
      if (holds[g][p]) holds[groups[g].parent][p] = true;
  }
  for (std::size_t a = 0; a < prompts.size(); ++a)
    for (std::size_t b = a + 1; b < prompts.size(); ++b) {
      std::uint64_t shared = 0;
      for (std::size_t g = 0; g < groups.size(); ++g)
        if (holds[g][a] && holds[g][b]) shared = std::max(shared, groups[g].shared);
      ASSERT_EQ(shared, common(prompts[a], prompts[b])) << a << " " << b;
    }
}

MediaSpan image(std::uint32_t start, std::uint32_t tokens, const std::string& id) {
  MediaSpan span;
  span.start = start;
  span.tokens = tokens;
  span.positions = tokens;
  span.kind = "image";
  span.id = id;
  return span;
}

TokenArea area(std::vector<TokenId> ids, std::vector<MediaSpan> media) {
  TokenArea tokens;
  tokens.form = TokenForm::payload;
  tokens.ids = std::move(ids);
  tokens.media = std::move(media);
  return tokens;
}

TEST(PromptSymbols, AMediumIsWholeOrNotThere) {
  MediaIndex media;
  const auto cat = symbols_of(area({5, -1, -1, -1, 6, 7}, {image(1, 3, "cat")}), media);
  const auto same = symbols_of(area({5, -1, -1, -1, 6, 8}, {image(1, 3, "cat")}), media);
  const auto dog = symbols_of(area({5, -1, -1, -1, 6, 7}, {image(1, 3, "dog")}), media);
  const auto longer = symbols_of(area({5, -1, -1, -1, -1, 6}, {image(1, 4, "cat")}), media);
  EXPECT_EQ(cat.size(), 4U);
  EXPECT_EQ(tokens_of(cat, media), 6U);
  EXPECT_EQ(first_difference(cat, same, media).tokens, 5U);
  EXPECT_EQ(first_difference(cat, dog, media).tokens, 1U);
  EXPECT_EQ(first_difference(cat, longer, media).tokens, 1U);
  const PrefixTree tree = tree_of({cat, same, dog, longer}, media);
  EXPECT_EQ(tree.tokens(0), 6U);
  EXPECT_EQ(tree.shared(0, 1), 5U);
  EXPECT_EQ(tree.shared(0, 2), 1U);
  EXPECT_EQ(tree.shared(0, 3), 1U);
}

TEST(PromptSymbols, WhatIsNotKnownIsEqualToNothing) {
  MediaIndex media;
  const std::vector<TokenId> ids = {5, -1, -1, 6};
  const auto plain = symbols_of(area(ids, {}), media);
  const auto again = symbols_of(area(ids, {}), media);
  const auto nameless = symbols_of(area(ids, {image(1, 2, "")}), media);
  EXPECT_EQ(tokens_of(plain, media), 4U);
  EXPECT_EQ(first_difference(plain, again, media).tokens, 1U);
  EXPECT_EQ(first_difference(plain, nameless, media).tokens, 1U);
}

Symbols symbols_in(const std::string& file, MediaIndex& media) {
  return symbols_of(open_dump(test::testdata("server/b0.7.0/" + file).string()).tokens, media);
}

// The server reported cache_n 98 for the second turn and 197 for the third; n_saved is the length.
TEST(PrefixOfServerFiles, TurnsOfAChat) {
  MediaIndex media;
  const PrefixTree tree = tree_of({symbols_in("chat-turn3.ggsq", media),
                                   symbols_in("chat-turn1.ggsq", media),
                                   symbols_in("chat-turn2.ggsq", media)});
  EXPECT_EQ(tree.tokens(0), 302U);
  EXPECT_EQ(tree.tokens(1), 105U);
  EXPECT_EQ(tree.shared(1, 2), 98U);
  EXPECT_EQ(tree.shared(2, 0), 197U);
  EXPECT_EQ(tree.shared(1, 0), 98U);
}

TEST(PrefixOfServerFiles, AGrowingListIsAStrictPrefix) {
  MediaIndex media;
  const PrefixTree tree = tree_of({symbols_in("grow-turn1.ggsq", media),
                                   symbols_in("grow-turn2.ggsq", media),
                                   symbols_in("grow-turn3.ggsq", media)});
  EXPECT_EQ(tree.shared(0, 1), 28U);
  EXPECT_EQ(tree.shared(0, 2), 28U);
  EXPECT_EQ(tree.shared(1, 2), 46U);
}

}  // namespace
}  // namespace kvtool
