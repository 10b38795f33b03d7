// kvtool-format(5) must speak of every field in the words of the code: what `map` shows, what errors name, and what
// layouts are called.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "kvtool/map.h"
#include "kvtool/open.h"
#include "support/testdata.h"
#include "support/tiny_dump.h"
#include "support/views.h"

namespace kvtool::test {
namespace {

using Names = std::set<std::string>;

bool is_name(const std::string& word) {
  static const std::regex name("[a-z][a-z0-9_]*");
  return std::regex_match(word, name);
}

// The words behind the macro Va in one line of the page: "Va nx , ny Ta u32" has nx and ny.
void add_marked(const std::string& line, Names& names) {
  std::istringstream words(line);
  bool marked = false;
  for (std::string word; words >> word;) {
    if (word == "Va" || word == ".Va")
      marked = true;
    else if (word == "Ta" || (marked && word != "," && !is_name(word)))
      marked = false;
    else if (marked && is_name(word))
      names.insert(word);
  }
}

Names fields_on_the_page() {
  std::ifstream page(testdata("../man/kvtool-format.5"));
  EXPECT_TRUE(page) << "there is no page";
  Names names;
  for (std::string line; std::getline(page, line);) add_marked(line, names);
  return names;
}

// "memory[0].stream[1].layer[2].k_data" -> "k_data"
std::string field_of(const std::string& label) {
  const std::string last = label.substr(label.rfind('.') + 1);
  return last.substr(0, last.find('['));
}

void add_fields(const Dump& dump, Names& fields) {
  for (const MapRange& range : map_of(dump, true)) fields.insert(field_of(range.label));
}

// The names of `fields` that the page lacks.
Names missing_of(const Names& fields) {
  const Names page = fields_on_the_page();
  Names missing;
  for (const std::string& field : fields)
    if (!page.contains(field)) missing.insert(field);
  return missing;
}

TEST(ManPage, HasEveryFieldOfEveryLayout) {
  Names fields;
  for (const TinyDump& tiny : tiny_dumps()) {
    const ByteVector bytes = build(tiny);
    add_fields(open_dump(std::make_shared<ViewSource>(bytes)), fields);
  }
  EXPECT_GT(fields.size(), 50U);
  EXPECT_EQ(missing_of(fields), Names{});
}

TEST(ManPage, HasEveryFieldOfGenuineFiles) {
  Names fields;
  for (const auto& path : dumps_below(testdata())) {
    try {
      add_fields(open_dump(path.string()), fields);
    } catch (const std::exception&) {
      continue;  // another family
    }
  }
  EXPECT_GT(fields.size(), 40U);
  EXPECT_EQ(missing_of(fields), Names{});
}

// "byte 0x10 of the token area: id_count: 3 ..." -> "id_count"
std::string field_of_problem(const std::string& problem) {
  static const std::regex form(".* of the token area: ([a-z_0-9]+): .*");
  std::smatch found;
  return std::regex_match(problem, found, form) ? found[1].str() : std::string();
}

TEST(ManPage, HasEveryFieldOfTheTokenPayload) {
  const Dump image = open_dump(testdata("modern/b11118/qwen2vl-slot-image.slot0.ggsq").string());
  Names fields;
  for (std::size_t words = 2; words < image.tokens.words.size(); ++words) {
    const auto begin = image.tokens.words.begin();
    const std::string problem =
        decode_tokens({begin, begin + static_cast<std::ptrdiff_t>(words)}).problem;
    fields.insert(field_of_problem(problem));
  }
  EXPECT_TRUE(fields.contains("id_count") && fields.contains("chunk")) << "names were not found";
  EXPECT_EQ(missing_of(fields), Names{});
}

TEST(ManPage, HasEveryArrangement) {
  std::ifstream in(testdata("../man/kvtool-format.5"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const Arrangement& arrangement : arrangements())
    EXPECT_NE(page.find(fmt::format("\n.It {} Ta", arrangement.name)), std::string::npos)
        << arrangement.name;
}

// "ggsn6" -> "ggsn 6": how the table of header structs calls a session.
std::string apart(const std::string& word) {
  return word.starts_with("ggsn") ? "ggsn " + word.substr(4) : word;
}

// Each word of a name has a line of its own in the table of words. Old sessions and header structs are
// there as "ggsn0 to ggsn7" and ".j32 to .s6308", and each has its line in a table of its own.
bool is_explained(const std::string& page, const std::string& dot, const std::string& word) {
  return page.find(fmt::format("\n.It Li {}{} Ta", dot, word)) != std::string::npos ||
         page.find(fmt::format("\n.It {} Ta", apart(word))) != std::string::npos;
}

TEST(ManPage, HasEveryWordOfLayoutNames) {
  std::ifstream in(testdata("../man/kvtool-format.5"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const TinyDump& tiny : tiny_dumps()) {
    const std::string layout = tiny.layout;
    std::istringstream choices(layout.substr(0, layout.find('/')));
    const char* dot = "";
    for (std::string word; std::getline(choices, word, '.'); dot = ".")
      EXPECT_TRUE(is_explained(page, dot, word)) << layout << ": " << word;
  }
}

// The checks above must be able to fail.
TEST(ManPage, WhatIsMissingIsNoticed) {
  EXPECT_EQ(missing_of({"k_row", "no_such_field"}), Names{"no_such_field"});
  Names names;
  add_marked(".It Va nx , ny Ta u32, u32 Ta columns", names);
  EXPECT_EQ(names, (Names{"nx", "ny"}));
  EXPECT_FALSE(is_explained("\n.It ggsn 6 Ta", "", "ggsn5"));
  EXPECT_TRUE(is_explained("\n.It ggsn 6 Ta", "", "ggsn6"));
}

}  // namespace
}  // namespace kvtool::test
