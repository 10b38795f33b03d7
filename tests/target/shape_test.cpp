// Genuine dumps: the era that wrote them is among those they fit, and they show the shape that
// their writer had.
#include <gtest/gtest.h>

#include "kvtool/open.h"
#include "kvtool/target.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

Target like(const std::string& path) {
  return target_like(open_dump(test::testdata(path).string()));
}

// First and last era that a dump fits.
using Range = std::pair<std::string, std::string>;
Range range(const std::string& path) {
  const std::string name = like(path).era->name;
  const std::size_t middle = name.find(" to ");
  if (middle == std::string::npos) return {name, name};
  return {name.substr(0, middle), name.substr(middle + 4)};
}

std::size_t place_of(const std::string& name) {
  for (std::size_t i = 0; i < eras().size(); ++i)
    if (eras()[i].name == name) return i;
  return eras().size();
}

TEST(EraOfDump, EveryGenuineDumpFitsItsWriter) {
  const std::pair<const char*, const char*> folders[] = {
      {"server/b3479", "8/2"},           {"server/b4748", "9/2-flat"},
      {"modern/b4748", "9/2-flat"},      {"modern/rn-0.6.7", "9/2-streams"},
      {"modern/rn-0.11.0", "9/2-mla"},   {"modern/rn-0.11.5", "9/2-no-outputs"},
      {"modern/b9254", "9/2-rotated"},   {"modern/b10256", "9/2-window-cut"},
      {"modern/b11118", "10/3"},         {"server/b0.7.0", "11/4"},
      {"server/b0.7.0-library", "11/4"}, {"server/b0.7.0-sessions", "11/4"}};
  for (const auto& [folder, era] : folders)
    for (const auto& path : test::dumps_below(test::testdata(folder))) {
      const Era found = era_of_dump(open_dump(path.string()));
      const std::size_t middle = found.name.find(" to ");
      const std::size_t first = place_of(found.name.substr(0, middle));
      const std::size_t last =
          middle == std::string::npos ? first : place_of(found.name.substr(middle + 4));
      EXPECT_LE(first, place_of(era)) << path << ": " << found.name;
      EXPECT_GE(last, place_of(era)) << path << ": " << found.name;
      EXPECT_LT(last, eras().size()) << path << ": " << found.name;
    }
}

TEST(EraOfDump, WhatTheBytesCannotTellStaysOpen) {
  EXPECT_EQ(range("server/b0.7.0/mamba.ggsq"), (Range{"11/4", "11/4"}));
  const Target old = like("modern/b10256/lfm2.seq0.ggsq");
  EXPECT_EQ(range("modern/b10256/lfm2.seq0.ggsq"), (Range{"9/2-streams", "9/2-window-cut"}));
  EXPECT_FALSE(old.era->rotates.has_value());
  EXPECT_EQ(old.era->mla_rows, MlaRows::unknown);
  EXPECT_EQ(like("server/b0.7.0/gemma3-q8_0.ggsq").era->rotates, true);
  EXPECT_EQ(like("server/b4748/llamah64-q8_0-fa.ggsq").era->rotates, false);
}

TEST(TargetLike, StreamsTypesAndRotation) {
  const Target h64 = like("server/b0.7.0/llamah64-q8_0-k-only.ggsq");
  EXPECT_EQ(h64.type_k, ElementType::q8_0);
  EXPECT_EQ(h64.type_v, ElementType::f16);
  EXPECT_EQ(h64.flash_attention, true);
  EXPECT_EQ(h64.streams(), 1U);
  EXPECT_EQ(h64.rotation_of(0), std::pair(64U, 0U));
  EXPECT_EQ(h64.model->caches.front().layers.front(), (LayerShape{64, 64}));

  const Target streams = like("server/b0.7.0/np3-streams-slot1.ggsq");
  EXPECT_EQ(streams.streams(), 3U);
  EXPECT_EQ(streams.unified, false);
  EXPECT_EQ(streams.model->needs_extension, false);

  const Target image = like("server/b0.7.0/qwen2vl.ggsq");
  EXPECT_EQ(image.model->needs_extension, true);
  EXPECT_EQ(like("modern/b11118/llama-nofa-bf16.ggsn").flash_attention, false);
}

TEST(TargetLike, AnEmptyCacheSaysNothingOfItsLayers) {
  const Target empty = like("server/b0.7.0/empty-gemma3.ggsq");
  for (const CacheShape& cache : empty.model->caches) EXPECT_FALSE(cache.known);
  EXPECT_FALSE(empty.type_k.has_value());
  EXPECT_FALSE(empty.flash_attention.has_value());
  // A cache with cells and without layers does say it.
  const Target lfm2 = like("modern/b11118/lfm2swa.ggsn");
  EXPECT_TRUE(lfm2.model->caches[0].known);
  EXPECT_TRUE(lfm2.model->caches[0].layers.empty());
}

TEST(RotationFor, ByTypeHeadAndTime) {
  CacheShape cache;
  cache.role = "main";
  cache.layers = {{256, 256}};
  cache.head_k = cache.head_v = 128;
  const Era& now = era_of_loader("0.7.0");
  const auto f16 = ElementType::f16;
  const auto q8 = ElementType::q8_0;
  EXPECT_EQ(rotation_for(now, cache, "llama", f16, f16), std::pair(0U, 0U));
  EXPECT_EQ(rotation_for(now, cache, "llama", q8, q8), std::pair(128U, 64U));
  EXPECT_EQ(rotation_for(now, cache, "llama", f16, q8), std::pair(0U, 64U));
  EXPECT_EQ(rotation_for(era_of_loader("2025-10"), cache, "llama", q8, q8), std::pair(0U, 0U));
  cache.head_k = 192;
  EXPECT_EQ(rotation_for(now, cache, "llama", q8, f16), std::pair(64U, 0U));
  cache.head_k = cache.head_v = 32;
  EXPECT_EQ(rotation_for(now, cache, "llama", q8, q8), std::pair(0U, 0U));
  cache.head_k = cache.head_v = 0;
  EXPECT_FALSE(rotation_for(now, cache, "llama", q8, q8).has_value());
  EXPECT_EQ(rotation_for(now, cache, "llama", f16, f16), std::pair(0U, 0U));
  cache.role = "index";
  cache.head_k = 64;
  cache.layers = {{64, 0}};
  EXPECT_EQ(rotation_for(now, cache, "deepseek32", f16, f16), std::pair(64U, 0U));
  EXPECT_EQ(rotation_for(now, cache, "minimax-m3", f16, f16), std::pair(0U, 0U));
}

TEST(Streams, FromSettings) {
  Target target;
  EXPECT_FALSE(target.streams().has_value());
  target.parallel = 1;
  EXPECT_EQ(target.streams(), 1U);
  target.parallel = 3;
  EXPECT_EQ(target.streams(), 3U);
  target.unified = true;
  EXPECT_EQ(target.streams(), 1U);
  target.unified = false;
  target.era = era_of_loader("2025-06");
  EXPECT_EQ(target.streams(), 1U);
}

}  // namespace
}  // namespace kvtool
