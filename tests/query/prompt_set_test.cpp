// What the verb prefix reads of files, where files misbehave.
#include "cli/prompt_set.h"

#include <gtest/gtest.h>

#include "kvtool/error.h"
#include "support/changed_source.h"
#include "support/testdata.h"

namespace kvtool::cli {
namespace {

std::shared_ptr<const Source> chat() {
  return open_source(test::testdata("server/b0.7.0/chat-turn1.ggsq").string());
}

TEST(PromptSet, AFileThatChangedWhileItWasReadIsNotUsed) {
  PromptSet set;
  EXPECT_THROW(set.read(std::make_shared<test::ChangedSource>(chat())), Error);
  EXPECT_TRUE(set.prompts.empty());
  EXPECT_EQ(set.tree.size(), 0U);
}

TEST(PromptSet, TheOthersStand) {
  PromptSet set;
  set.read(chat());
  EXPECT_THROW(set.read(std::make_shared<test::ChangedSource>(chat())), Error);
  ASSERT_EQ(set.prompts.size(), 1U);
  EXPECT_EQ(set.tree.tokens(0), set.prompts[0].tokens);
}

TEST(PromptSet, ABareStateHasNoTokens) {
  PromptSet set;
  const auto state = open_source(test::testdata("history/v9-20250220-c392e5094-plain-raw.raw").string());
  EXPECT_THROW(set.read(state), Error);
}

}  // namespace
}  // namespace kvtool::cli
