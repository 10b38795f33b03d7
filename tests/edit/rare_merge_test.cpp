// Files that go together although they are not alike, and files that do not.
#include <fmt/format.h>

#include "edit/tiny_edits.h"
#include "kvtool/facts.h"
#include "kvtool/merge.h"

namespace kvtool::test {
namespace {

using DumpList = std::vector<DumpPtr>;

MergeOptions named() { return {.renumber = true, .unified = true, .arch = "llama"}; }

std::string merge_refusal(const DumpPtr& a, const DumpPtr& b,
                          const MergeOptions& options = named()) {
  return refusal([&] { static_cast<void>(merge_dumps({a, b}, options)); });
}

TEST(RareMerge, OtherShapesAreNamed) {
  const DumpPtr plain = tiny("ggsn11.streams.rot/kv");
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn11.streams.rot/iswa")), "has 2 memories, and"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn11.streams.rot/iswa"), tiny("ggsn11.streams.rot/dsa")),
                    "memory 0 is main, and ggsn11.streams.rot/iswa base: no conversion helps"));
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn11.streams.rot/mla")),
                    "V of layer 0 in memory 0 is absent, and ggsn11.streams.rot/kv has 3 in rows"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.streams/kv"), tiny("ggsn9.streams.xy/kv")),
                    "has another layout: ggsn9.streams.xy/kv, and ggsn9.streams/kv ggsn9.streams"));
  EXPECT_TRUE(holds(merge_refusal(plain, tiny("ggsn10.streams/kv")), "is of version 10, and"));
  TinyDump deeper = tiny_dump("ggsn11.streams.rot/kv");
  deeper.layers = 3;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(deeper)), "memory 0 has 3 layers, and"));
  TinyDump wider = tiny_dump("ggsn11.streams.rot/kv");
  wider.k_width = 5;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(wider)), "is 5 in rows of f16"));
  EXPECT_FALSE(holds(merge_refusal(plain, opened(wider)), "kvtool convert --like"));
  TinyDump single = tiny_dump("ggsn11.streams.rot/kv");
  single.type = 0;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(single)), "kvtool convert --like"));
  TinyDump turned = tiny_dump("ggsn11.streams.rot/kv");
  turned.transposed = true;
  EXPECT_TRUE(holds(merge_refusal(plain, opened(turned)), "is 3 transposed of f16"));
  EXPECT_EQ(merge_refusal(plain, plain), "");
}

TEST(RareMerge, WhatNoSessionHoldsIsRefusedOrNamed) {
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn11.streams.rot/dsv4"), tiny("ggsn11.streams.rot/dsv4")),
                    "a compressed cache cannot be joined with another"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq1/kv"), tiny("ggsq1/kv")),
                    "convert them to slot files of llama.cpp first"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq4.ik/kv"), tiny("ggsq4.ik/kv")),
                    "convert them to slot files of llama.cpp first"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.outputs.flat/kv"), tiny("ggsn9.outputs.flat/kv"),
                                  {.renumber = true, .unified = false, .arch = {}}),
                    "files of that time have one stream for all sequences"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsq4.streams.rot/iswa"), tiny("ggsq4.streams.rot/iswa"),
                                  {.renumber = true, .unified = true, .arch = {}}),
                    "a session names its architecture and none of the files does"));
  const DumpPtr slot = tiny("ggsq4.streams.rot/iswa");
  const SequenceEdit merged = merge_dumps({slot, slot}, named());
  EXPECT_TRUE(holds(merged.notes, "dropped the checkpoints and draft states of 2 files"));
  EXPECT_EQ(seen(*written(merged.plan), 0, 1).size(), 3U);
  const DumpPtr nothing = tiny("ggsq4.streams/kv");  // a slot without cells
  EXPECT_EQ(written(merge_dumps({nothing, nothing}, named()).plan)
                ->state.memories[0]
                .streams[0]
                .cells.size(),
            0U);
}

TEST(RareMerge, CellsAfterAnEmptyFileAreThoseOfTheSecond) {
  const DumpPtr slot = tiny_of_one_sequence("ggsq3.streams/kv");
  TinyDump empty = tiny_dump("ggsq3.streams/kv");
  empty.cells = 0;
  const DumpPtr merged = written(merge_dumps({opened(empty), slot}, named()).plan);
  EXPECT_EQ(seen(*merged, 0, 1).size(), 3U);
}

TinyDump plain_slot() {
  TinyDump slot = tiny_dump("ggsq4.streams.rot/kv");
  slot.transposed = slot.checkpoints = slot.draft = false;
  return slot;
}

// Sessions name the model, slot files do not.
TEST(RareMerge, ASlotFileJoinsASession) {
  const DumpPtr session = tiny("ggsn11.streams.rot/kv");
  const DumpPtr slot = opened(plain_slot());
  const MergeOptions unnamed{.renumber = true, .unified = true, .arch = {}};
  for (const DumpList& list : {DumpList{session, slot}, DumpList{slot, session}}) {
    const DumpPtr merged = written(merge_dumps(list, unnamed).plan);
    EXPECT_EQ(merged->arch, "llama");
    EXPECT_EQ(cells_of(merged->state.memories[0]), 6U);
    EXPECT_EQ(sequence_ids(merged->state), (std::set<SequenceId>{0, 1, 2}));
  }
  auto other = std::make_shared<Dump>(*session);
  other->arch = "gemma3";
  EXPECT_TRUE(holds(merge_refusal(session, other), "is of a gemma3 model, and"));
}

// Slot files 3 were written beside sessions 10. Slot files 2 were in use for so long that they tell
// no time, and states have no version.
TEST(RareMerge, VersionsOfOneTimeGoTogether) {
  EXPECT_EQ(merge_refusal(tiny("ggsn10.streams/kv"), tiny("ggsq3.streams/kv")), "");
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.streams/kv"), tiny("ggsq3.streams/kv")),
                    "is of version 3, and ggsn9.streams/kv of version 9; kvtool convert"));
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn10.streams/kv"), opened(plain_slot())),
                    "is of version 4, and ggsn10.streams/kv of version 10; kvtool convert"));
  EXPECT_EQ(merge_refusal(tiny("ggsn9.streams.xy/kv"), tiny("ggsq2.streams.xy/kv")), "");
  EXPECT_EQ(merge_refusal(tiny("ggsn11.streams.rot/kv"), tiny("raw.streams.rot/kv")), "");
  EXPECT_TRUE(holds(merge_refusal(tiny("ggsn9.streams/kv"), tiny("raw.streams.rot/kv")),
                    "has another layout: raw.streams.rot/kv"));
}

TEST(RareMerge, OneMemoryIsNotAnother) {
  EXPECT_EQ(merge_refusal(tiny("ggsn11.streams.rot/kv"), tiny("ggsn11/recurrent")),
            "ggsn11/recurrent: is of a mamba model, and ggsn11.streams.rot/kv a llama model: no "
            "conversion helps");
  EXPECT_EQ(merge_refusal(tiny("ggsq4.streams.rot/kv"), tiny("ggsq4/recurrent")),
            "ggsq4/recurrent: memory 0 is recurrent, and ggsq4.streams.rot/kv main: no conversion "
            "helps");
}

// In one cache K must be turned in one way.
TEST(RareMerge, RotationsMustAgree) {
  const DumpPtr turned = tiny("ggsn11.streams.rot/kv");  // its K in blocks of 64
  for (std::uint32_t Stream::*word : {&Stream::rot_k, &Stream::rot_v}) {
    auto other = std::make_shared<Dump>(*turned);
    Stream& stream = other->state.memories[0].streams[0];
    stream.*word = 128;
    EXPECT_TRUE(holds(merge_refusal(turned, other),
                      fmt::format("memory 0 has K and V rotated by {} and {}, and "
                                  "ggsn11.streams.rot/kv by 64 and 0; kvtool convert --like",
                                  stream.rot_k, stream.rot_v)));
  }
}

TEST(RareMerge, AnEmptyFileAddsNothing) {
  const DumpPtr slot = opened(plain_slot());
  const DumpPtr empty = tiny("ggsq4.streams/kv");
  const auto merged = [](const DumpList& list) { return written(merge_dumps(list, named()).plan); };
  EXPECT_EQ(seen(*merged({slot, empty}), 0, 0), seen(*slot, 0, 0));
  EXPECT_EQ(seen(*merged({empty, slot}), 0, 1), seen(*slot, 0, 0));
  EXPECT_EQ(seen(*slot, 0, 0).size(), 3U);
}

TEST(RareMerge, SomethingMustBeMerged) {
  EXPECT_EQ(refusal([] { static_cast<void>(merge_dumps({}, {})); }), "no files to merge");
}

}  // namespace
}  // namespace kvtool::test
