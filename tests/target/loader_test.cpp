// Names of loaders against the dates and builds that are known (format notes, not the table itself).
#include <gtest/gtest.h>

#include "kvtool/error.h"
#include "kvtool/target.h"

namespace kvtool {
namespace {

std::string era(const std::string& loader) { return era_of_loader(loader).name; }

// The message of the refusal; empty when there is none.
std::string refusal(const std::string& loader) {
  try {
    static_cast<void>(loader_named(loader));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.message();
  }
  return {};
}

TEST(Loader, BuildsThatWroteDumps) {
  EXPECT_EQ(era("b3479"), "8/2");
  EXPECT_EQ(era("b4748"), "9/2-flat");
  EXPECT_EQ(era("b5590"), "9/2-ids");
  EXPECT_EQ(era("b5640"), "9/2-ids");
  EXPECT_EQ(era("b6122"), "9/2-streams");
  EXPECT_EQ(era("b7347"), "9/2-streams");
  EXPECT_EQ(era("b7836"), "9/2-mla");
  EXPECT_EQ(era("b8390"), "9/2-xy");
  EXPECT_EQ(era("b9254"), "9/2-rotated");
  EXPECT_EQ(era("b10068"), "9/2-window-cut");
  EXPECT_EQ(era("b10256"), "9/2-window-cut");
  EXPECT_EQ(era("b10645"), "10/3");
  EXPECT_EQ(era("b11118"), "10/3");
  EXPECT_EQ(era("b11669"), "11/4");
  EXPECT_EQ(loader_named("b10300").build, 10300U);
}

TEST(Loader, Releases) {
  EXPECT_EQ(era("0.4.0"), "10/3");
  EXPECT_EQ(era("v0.4.1"), "10/3");
  EXPECT_EQ(era("v0.5.0"), "10/3");
  EXPECT_EQ(era("0.6.0"), "11/4");
  EXPECT_EQ(era("0.7.0"), "11/4");
  EXPECT_EQ(loader_named("0.7.0").build, 11669U);
  EXPECT_NE(refusal("0.3.9").find("first release"), std::string::npos);
  EXPECT_NE(refusal("0.5.1").find("10/3"), std::string::npos);
  EXPECT_NE(refusal("0.8.0").find("newer"), std::string::npos);
}

TEST(Loader, DaysAndMonths) {
  EXPECT_EQ(era("2024-08"), "8/2");
  EXPECT_EQ(era("2025-02-20"), "9/2-flat");
  EXPECT_EQ(era("2025-06"), "9/2-ids");
  EXPECT_EQ(era("2025-10"), "9/2-streams");
  EXPECT_EQ(era("2026-05"), "9/2-rotated");
  EXPECT_EQ(era("2026-05-17"), "9/2-rotated");
  EXPECT_EQ(era("2026-07"), "9/2-window-cut");
  EXPECT_EQ(era("2026-08-01"), "9/2-window-cut");
  EXPECT_EQ(era("2026-09"), "10/3");
  EXPECT_EQ(era("2026-10-19"), "11/4");
}

// Days of history.md: each between the changes of two session versions.
TEST(Loader, BeforeAugust2024) {
  EXPECT_EQ(era("2023-06"), "1");
  EXPECT_EQ(era("2023-11"), "2");
  EXPECT_EQ(era("2023-12-24"), "3");
  EXPECT_EQ(era("2024-02"), "4");
  EXPECT_EQ(era("2024-04-15"), "5/1");
  EXPECT_EQ(era("2024-06"), "6/1");
  EXPECT_EQ(era("2024-07-25"), "7/1");
  EXPECT_NE(refusal("2024-03-26").find("4 or --loader 5/1"), std::string::npos);
  EXPECT_NE(refusal("2024-07").find("6/1 (V in rows"), std::string::npos);
  // Header structs came and went within a version, so the days that were asked for are kept.
  EXPECT_EQ(loader_named("2024-06-01").era.from, "2024-06-01");
}

TEST(Loader, OfTheFork) {
  EXPECT_EQ(era("ik_llama.cpp"), "ik-10/4");
  EXPECT_EQ(loader_named("ik-9/3").era.family, Family::ik_llama);
  EXPECT_EQ(era_of_version(Container::slot, 3).family, Family::llama_cpp);
}

TEST(Loader, ChangesAreRefusedWithBothNeighbours) {
  for (const char* name : {"2025-07", "2026-04-01", "2026-04", "2026-06", "2026-08", "2026-10",
                           "2026-08-26", "b9500", "b8000", "b11300", "b3500"}) {
    const std::string message = refusal(name);
    EXPECT_NE(message.find("pass --loader"), std::string::npos) << name << ": " << message;
    EXPECT_NE(message.find(" or --loader"), std::string::npos) << name << ": " << message;
  }
  EXPECT_NE(refusal("2026-08").find("9/2-window-cut or --loader 10/3"), std::string::npos);
}

TEST(Loader, OutsideOfTheTable) {
  EXPECT_NE(refusal("b3478").find("older"), std::string::npos);
  EXPECT_NE(refusal("2023-03").find("older"), std::string::npos);
  EXPECT_NE(refusal("2027-01").find("newer"), std::string::npos);
  EXPECT_NE(refusal("b20000").find("newer"), std::string::npos);
}

TEST(Loader, WhatIsNoLoader) {
  for (const char* name : {"", "b", "v", "10256", "2026", "2026-13", "2026-05-32", "1.2", "b-5",
                           "9/2", "2026-", "0.7.0.1", "b99999999999999999999", "0.7000.0"})
    EXPECT_NE(refusal(name).find("not a release"), std::string::npos) << name;
}

TEST(Loader, EveryEraIsNamedByItself) {
  for (const Era& e : eras()) {
    EXPECT_EQ(era(e.name), e.name);
    EXPECT_EQ(era(e.from), e.name);
    EXPECT_EQ(era(e.until), e.name);
    EXPECT_LE(e.from, e.until);
  }
}

TEST(Version, ThoseThatSayTheLayout) {
  EXPECT_EQ(era_of_version(Container::slot, 4).name, "11/4");
  EXPECT_EQ(era_of_version(Container::slot, 3).name, "10/3");
  EXPECT_EQ(era_of_version(Container::session, 8).name, "8/2");
  EXPECT_THROW(static_cast<void>(era_of_version(Container::slot, 2)), Error);
  EXPECT_THROW(static_cast<void>(era_of_version(Container::session, 9)), Error);
  EXPECT_THROW(static_cast<void>(era_of_version(Container::slot, 5)), Error);
}

}  // namespace
}  // namespace kvtool
