// Input that is no dump, or one with a single wrong field: what the message says and where.
#include <algorithm>

#include "support/damage.h"
#include "support/testdata.h"
#include "support/tiny_dump.h"

namespace kvtool::test {
namespace {

struct Finding {
  ErrorKind kind;
  std::uint64_t offset;
  const char* field;  // end of the field's path
  const char* words;  // part of the message
};

void expect_refused(std::span<const std::byte> bytes, const Finding& expected,
                    const OpenOptions& options = {}) {
  const Outcome outcome = open_bytes(bytes, options);
  ASSERT_TRUE(outcome.error) << "opened as " << outcome.dump->layout;
  const Error& error = *outcome.error;
  ASSERT_TRUE(error.place()) << error.what();
  EXPECT_EQ(error.kind(), expected.kind) << error.what();
  EXPECT_EQ(error.place()->offset, expected.offset) << error.what();
  EXPECT_TRUE(error.place()->field.ends_with(expected.field)) << error.what();
  EXPECT_NE(error.message().find(expected.words), std::string::npos) << error.what();
  EXPECT_EQ(error.file(), "view");
  EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "more than one line";
}

const char* const session = "ggsn11.streams.rot/kv";

// A plain session of today with as many cells as a short chat: long enough that a layout which is
// not the file's own gives up among the cells.
ByteVector chat() {
  TinyDump tiny = tiny_dump(session);
  tiny.cells = 40;
  return build(tiny);
}

// Where a field of the chat lies.
std::size_t place_of(const std::string& label) {
  const ByteVector bytes = chat();
  for (const MapRange& field : metadata_of(*open_bytes(bytes).dump))
    if (field.label == label) return static_cast<std::size_t>(field.offset);
  throw std::logic_error("no field " + label);
}

const std::string stream = "memory[0].stream[0].";

// One field of the chat holds another value: the finding is at that place.
template <class T>
void expect_found(const std::string& label, T value, const char* words,
                  ErrorKind kind = ErrorKind::damaged) {
  ByteVector bytes = chat();
  const std::size_t at = place_of(label);
  poke(bytes, at, value);
  expect_refused(bytes, {kind, at, label.c_str(), words});
}

// The chat's places come from the reader, so they are checked by what was written there.
TEST(BadInput, PlacesOfTheChatAreRight) {
  const ByteVector bytes = chat();
  EXPECT_EQ(place_of("arch"), 12U + 40 * 4);
  EXPECT_EQ(place_of("memory[0].n_stream"), 12U + 40 * 4 + 9);
  EXPECT_EQ(peek<std::uint32_t>(bytes, place_of(stream + "cell_count")), 40U);
  EXPECT_EQ(peek<std::int32_t>(bytes, place_of(stream + "cell[7].pos")), 7);
  EXPECT_EQ(peek<std::uint32_t>(bytes, place_of(stream + "n_layer")), 2U);
  EXPECT_EQ(peek<std::uint32_t>(bytes, place_of(stream + "rot_k")), 64U);
  EXPECT_EQ(peek<std::uint32_t>(bytes, place_of(stream + "layer[0].k_type")), 1U);
  EXPECT_EQ(peek<std::uint64_t>(bytes, place_of(stream + "layer[1].v_row")), 6U);
}

TEST(BadInput, NothingAtAll) { expect_refused({}, {ErrorKind::damaged, 0, "magic", "empty"}); }

TEST(BadInput, TwelveBytes) {
  expect_refused(Bytes().text("nsgg").u32(11).u32(0).get(),
                 {ErrorKind::damaged, 12, "arch", "4 bytes"});
  expect_refused(Bytes().text("qsgg").u32(4).u32(0).get(),
                 {ErrorKind::damaged, 12, "n_stream", ""});
  expect_refused(Bytes().u32(0).u32(0).u32(0).get(),
                 {ErrorKind::damaged, 0, "magic", "0x00000000"});
}

TEST(BadInput, LessThanAMagic) {
  expect_refused(Bytes().text("qsg").get(),
                 {ErrorKind::damaged, 0, "magic", "needs 4 bytes, the file has 3"});
  expect_refused(Bytes().text("qsgg").get(), {ErrorKind::damaged, 4, "version", "0 remain"});
}

TEST(BadInput, WrongMagic) {
  expect_refused(Bytes().text("nsgx").filler(100).get(),
                 {ErrorKind::damaged, 0, "magic", "expected ggsn, ggsq"});
  expect_refused(Bytes().text("GGUF").filler(100).get(),
                 {ErrorKind::unsupported, 0, "magic", "GGUF"});
  expect_refused(Bytes().u32(0x00088b1f).filler(100).get(),
                 {ErrorKind::unsupported, 0, "magic", "gzip"});
}

TEST(BadInput, ByteSwappedMagicHasItsOwnMessage) {
  for (const char* magic : {"ggsn", "ggsq"})
    expect_refused(Bytes().text(magic).u32(0x0b000000).filler(100).get(),
                   {ErrorKind::unsupported, 0, "magic", "byte-swapped"});
}

TEST(BadInput, UnknownVersionsNameTheKnownOnes) {
  for (const std::uint32_t version : {12U, 99U, 0xffffffffU})
    expect_found("version", version, "unknown; known: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
                 ErrorKind::unsupported);
  ByteVector slot = build(tiny_dump("ggsq4/recurrent"));
  poke(slot, 4, 5U);
  expect_refused(slot, {ErrorKind::unsupported, 4, "version", "unknown; known: 1, 2, 3, 4"});
}

TEST(BadInput, MoreThanTheBytesCanHold) {
  expect_found("n_token", 0xffffffffU, "expected at most 33554432, found 4294967295");
  expect_found(stream + "cell_count", 0xffffffffU, "expected at most 33554432, found 4294967295");
  expect_found(stream + "n_layer", 0xffffffffU, "at most 4096, found 4294967295");
}

TEST(BadInput, SequenceIdMinusOne) { expect_found(stream + "cell[7].seq_id", -1, "found -1"); }

// Ids that real programs never write are shown when nothing else fits, and noted.
TEST(BadInput, ImprobableSequenceIdsAreShownButNoted) {
  ByteVector bytes = chat();
  poke(bytes, place_of(stream + "cell[7].seq_id"), 256);
  const Outcome outcome = open_bytes(bytes);
  ASSERT_TRUE(outcome.dump) << outcome.error->what();
  EXPECT_EQ(outcome.dump->state.memories.front().streams.front().cells.sequences(7)[0], 256);
  ASSERT_FALSE(outcome.dump->notes.empty());
  poke(bytes, place_of(stream + "cell[7].seq_id"), 255);
  EXPECT_TRUE(open_bytes(bytes).dump->notes.empty());
}

TEST(BadInput, TwoImpossibleWordsAreNotForgiven) {
  ByteVector bytes = chat();
  poke(bytes, place_of(stream + "cell[7].seq_id"), -1);
  poke(bytes, place_of(stream + "rot_k"), 3U);
  EXPECT_TRUE(open_bytes(bytes).error);
}

TEST(BadInput, UnknownElementType) {
  for (const int type : {-1, 5, 133, 1 << 20}) {
    expect_found(stream + "layer[0].k_type", type, "ggml type id");
    expect_found(stream + "layer[1].k_type", type, "ggml type id");
    expect_found(stream + "layer[1].v_type", type, "ggml type id");
  }
}

TEST(BadInput, ARowThatIsNoWholeNumberOfBlocks) {
  const std::uint64_t three = 3;
  expect_found(stream + "layer[1].k_row", three, "whole blocks of 2 bytes (f16), found 3");
  ByteVector bytes = chat();
  const std::size_t type = place_of(stream + "layer[1].v_type");
  poke(bytes, type, 8U);  // q8_0: blocks of 34 bytes
  expect_refused(bytes, {ErrorKind::damaged, type + 4, "v_row", "whole blocks of 34 bytes (q8_0)"});
}

TEST(BadInput, ARowWhoseProductWithTheCellsWraps) {
  // Four cells of 2^62 bytes are 2^64, which is 0 in 64 bits.
  TinyDump tiny = tiny_dump("ggsq4.streams.rot/kv");
  tiny.cells = 4;
  tiny.checkpoints = tiny.draft = false;
  ByteVector bytes = build(tiny);
  const Outcome whole = open_bytes(bytes);
  ASSERT_TRUE(whole.dump);
  for (const MapRange& field : metadata_of(*whole.dump))
    if (field_of(field) == "k_row") {
      ByteVector damaged = bytes;
      poke(damaged, static_cast<std::size_t>(field.offset), std::uint64_t{1} << 62U);
      expect_refused(damaged, {ErrorKind::damaged, field.offset + 8, "k_data", "do not fit"});
    }
}

TEST(BadInput, FlagsAndWidthsThatAreNone) {
  expect_found(stream + "v_trans", 2U, "expected 0 or 1, found 2");
  expect_found(stream + "v_trans", 0x80000000U, "expected 0 or 1, found 2147483648");
  expect_found(stream + "rot_k", 3U, "expected 0 or a power of two, found 3");
  expect_found("memory[0].n_stream", 0U, "1 or more");
  expect_found("memory[0].n_stream", 257U, "at most 256");
  ByteVector bytes = chat();
  bytes[place_of("arch") + 6] = std::byte{'\n'};
  expect_refused(bytes, {ErrorKind::damaged, place_of("arch"), "arch", "printable"});
}

TEST(BadInput, NegativePositionsAreShownButNoted) {
  ByteVector bytes = chat();
  poke(bytes, place_of(stream + "cell[7].pos"), -1);
  const Outcome outcome = open_bytes(bytes);
  ASSERT_TRUE(outcome.dump) << outcome.error->what();
  EXPECT_EQ(outcome.dump->state.memories.front().streams.front().cells.position(7), -1);
  EXPECT_FALSE(outcome.dump->notes.empty());
  EXPECT_EQ(flaw_of(outcome, bytes), "");
}

ByteVector longer(ByteVector bytes, std::size_t by) {
  bytes.resize(bytes.size() + by, std::byte{0x5a});
  return bytes;
}

TEST(TrailingBytes, AreRefusedUnlessAskedFor) {
  for (const char* layout : {"ggsq4.streams.rot/kv", "ggsq4/recurrent", "ggsq2.flat/kv",
                             "rawseq.prefix/recurrent"})
    for (const std::size_t surplus : {1U, 8U, 100U}) {
      SCOPED_TRACE(layout);
      const ByteVector bytes = longer(build(tiny_dump(layout)), surplus);
      const Outcome outcome = open_bytes(bytes);
      ASSERT_TRUE(outcome.error);
      EXPECT_EQ(outcome.error->kind(), ErrorKind::damaged);
      EXPECT_EQ(outcome.error->place()->offset, bytes.size() - surplus) << outcome.error->what();
      EXPECT_TRUE(outcome.error->place()->field.ends_with("trailing")) << outcome.error->what();
    }
}

TEST(TrailingBytes, AreCarriedWhenKept) {
  for (const char* layout :
       {"ggsq4.streams.rot/kv", "ggsq4/recurrent", "rawseq.prefix/recurrent"}) {
    SCOPED_TRACE(layout);
    const ByteVector bytes = longer(build(tiny_dump(layout)), 8);
    const Outcome outcome = open_bytes(bytes, {{}, Trailing::keep});
    ASSERT_TRUE(outcome.dump) << outcome.error->what();
    EXPECT_EQ(outcome.dump->tail.trailing, (Extent{bytes.size() - 8, 8}));
    EXPECT_FALSE(outcome.dump->notes.empty());
    EXPECT_EQ(flaw_of(outcome, bytes), "");
  }
}

TEST(TrailingBytes, AreGoneWhenDropped) {
  for (const char* layout :
       {"ggsq4.streams.rot/kv", "ggsq4/recurrent", "rawseq.prefix/recurrent"}) {
    SCOPED_TRACE(layout);
    const ByteVector original = build(tiny_dump(layout));
    const ByteVector bytes = longer(original, 8);
    const Outcome outcome = open_bytes(bytes, {{}, Trailing::drop});
    ASSERT_TRUE(outcome.dump) << outcome.error->what();
    EXPECT_EQ(flaw_of_identity(outcome.dump, original), "");
  }
}

// A session's reader wants its last byte used, so no option lets bytes stand behind one.
TEST(TrailingBytes, HaveNoPlaceBehindASession) {
  for (const Trailing trailing : {Trailing::refuse, Trailing::keep, Trailing::drop})
    for (const char* layout : {session, "raw.streams.rot/kv"})
      EXPECT_TRUE(open_bytes(longer(build(tiny_dump(layout)), 8), {{}, trailing}).error) << layout;
}

// The words of the fork that no file at hand shows, and what its readers must not take.
constexpr std::size_t fork_state = 12 + 34 * 4;  // behind the ids of a slot file of 34 tokens

ByteVector fork_file() { return read_file(testdata("server/ik_llama/llama-f16.ggsq")); }

TEST(BadInput, LayoutsOfTheForkWithoutSamplesAreNamed) {
  for (const std::uint32_t magic : {0x53574143U, 0x50414732U, 0x50414731U}) {
    ByteVector bytes = fork_file();
    poke(bytes, fork_state, magic);
    expect_refused(bytes, {ErrorKind::unsupported, fork_state, "memory[0].magic", "ik_llama.cpp"});
  }
}

TEST(BadInput, WordsOfTheFork) {
  const std::size_t v_state = fork_state + 4 + 34 * 8;
  struct Case {
    std::size_t at;
    std::uint32_t word;
    std::size_t blamed;
    const char* field;
    const char* words;
  };
  for (const Case& c : std::vector<Case>{
           {v_state, 3, v_state, "memory[0].stream[0].v_state", "0, 1 or 2"},
           {v_state + 8, 77, v_state + 8, "memory[0].stream[0].layer[0].k_type", "ik_llama.cpp"},
           {v_state + 8, 0xffffffff, v_state + 12, "memory[0].stream[0].layer[0].k_row",
            "expected 0"}}) {
    ByteVector bytes = fork_file();
    poke(bytes, c.at, c.word);
    expect_refused(bytes, {ErrorKind::damaged, c.blamed, c.field, c.words});
  }
}

// Old sessions: a word is changed, and what it contradicts is blamed.
TEST(BadInput, WordsOfOldSessions) {
  const ByteVector good = read_file(testdata("history/v6-20240430-9c67c2773-fa-frag.ggsn"));
  const auto map = map_of(open_dump(std::make_shared<ViewSource>(good)), true);
  auto place = [&](const std::string& label) {
    for (const MapRange& range : map)
      if (range.label == label) return static_cast<std::size_t>(range.offset);
    throw std::runtime_error("no " + label);
  };
  struct Case {
    const char* field;
    std::uint32_t word;
    const char* words;
  };
  for (const Case& c : std::vector<Case>{
           {"header.n_vocab", 0xffffffff, "expected less than"},
           {"header.rms_eps", 0x7fc00000, "usual real number"},
           {"rng_size", 7, "length of a generator's text"},
           {"n_outputs", 0xffffff, "do not fit"},
           {"memory[0].stream[0].head", 0xffffffff, "at most"},
           {"memory[0].stream[0].v_trans", 9, "0 or 1"},
           {"memory[0].stream[0].cell[3].n_seq", 0xffffff, "do not fit"}}) {
    SCOPED_TRACE(c.field);
    ByteVector bytes = good;
    poke(bytes, place(c.field), c.word);
    const Outcome outcome = open_bytes(bytes);
    ASSERT_TRUE(outcome.error);
    EXPECT_NE(outcome.error->message().find(c.words), std::string::npos) << outcome.error->what();
  }
}

// Where a field of a tiny dump lies.
std::uint64_t place_in(const char* layout, const std::string& label) {
  const ByteVector bytes = build(tiny_dump(layout));
  for (const MapRange& range : map_of(*open_bytes(bytes).dump, true))
    if (range.label == label) return range.offset;
  throw std::logic_error("no field " + label);
}

struct Lie {
  const char* layout;
  std::string label;
  std::uint32_t word;
  std::uint64_t behind;  // bytes from the field to what is blamed
  const char* blamed;
  const char* words;
};

void expect_blamed(const Lie& lie) {
  SCOPED_TRACE(fmt::format("{}: {} = {}", lie.layout, lie.label, lie.word));
  ByteVector bytes = build(tiny_dump(lie.layout));
  const std::uint64_t at = place_in(lie.layout, lie.label);
  poke(bytes, static_cast<std::size_t>(at), lie.word);
  expect_refused(bytes, {ErrorKind::damaged, at + lie.behind, lie.blamed, lie.words});
}

// Cells whose K and V the file cannot hold are found before a table is made for them; the largest
// count is within what a cache may have.
TEST(BadInput, MoreOldCellsThanTheFileHolds) {
  expect_blamed({"ggsn1.j40/kv", stream + "count", 20000000, 4, "k_data", "do not fit"});
  expect_blamed({"ggsn2.s68/kv", stream + "size", 2, 0, "size", "expected 3 (head) or more, found 2"});
  expect_blamed({"ggsn6.s124/kv", stream + "size", 2, 0, "size", "expected 3 (head) or more"});
  expect_blamed({"ggsn5.s120/kv", stream + "head", 20000000, 4, "size", "found 5"});
  expect_blamed({"ggsn2.s68/kv", stream + "size", 20000000, 0, "size", "20000000 cells do not fit"});
}

TEST(BadInput, APoolThatItsRecordsContradict) {
  const std::string pool_size = stream + "pool_size";
  const std::uint64_t context = place_in("ggsn0.j32/kv", "header.n_ctx");
  ByteVector bytes = build(tiny_dump("ggsn0.j32/kv"));
  poke(bytes, static_cast<std::size_t>(context), 1U << 23U);
  const std::uint64_t pool = place_in("ggsn0.j32/kv", pool_size);
  expect_refused(bytes, {ErrorKind::damaged, pool + 12, "k_data", "8388608 cells"});
  for (const char* record : {"k_record", "v_record"}) {
    SCOPED_TRACE(record);
    const std::uint64_t at = place_in("ggsn0.j32/kv", stream + record);
    bytes = build(tiny_dump("ggsn0.j32/kv"));
    poke(bytes, static_cast<std::size_t>(at) + 8, std::uint64_t{1} << 40U);
    expect_refused(bytes, {ErrorKind::damaged, at + 8, record, "an object of"});
  }
}

TEST(BadInput, AWidthOfVThatTheRowsContradict) {
  const std::uint64_t end = build(tiny_dump("ggsq1/kv")).size();
  const std::uint64_t width = place_in("ggsq1/kv", stream + "v_dim");
  expect_blamed({"ggsq1/kv", stream + "v_dim", 4, end - width, "v_dim", "the first V has 3"});
  expect_blamed({"ggsq1/kv", stream + "size_of_size", 4, 0, "size_of_size", "expected 8"});
}

TEST(BadInput, MoreStatesOfTheForkThanTheFileHolds) {
  expect_blamed({"ggsq3.ik/hybrid", "memory[1].layer[0].s_rows", 1U << 24U, 4, "s_data", "do not fit"});
  expect_blamed({"ggsq3.ik/hybrid", "memory[1].layer[0].s_rows", 0, 0, "s_rows", "expected"});
  expect_blamed({"ggsq3.ik/hybrid", "has_states", 2, 0, "has_states", "0 or 1"});
  expect_blamed({"ggsq4.ik/kv-index", "has_index", 2, 0, "has_index", "0 or 1"});
}

TEST(BadInput, OldSessionsCutOrWithMore) {
  for (const char* file : {"history/v2-20231003-ac2219fef-frag.ggsn.zst",
                           "history/v4-20240303-87c2e8b27-frag.ggsn",
                           "history/v7-20240728-e54c35e4f-plain.ggsn",
                           "history/v7-20240728-e54c35e4f-openelm-plain-seq0.ggsq"}) {
    SCOPED_TRACE(file);
    ByteVector bytes = read_file(testdata(file));
    EXPECT_TRUE(open_bytes(std::span(bytes).first(bytes.size() - 8)).error);
    bytes.resize(bytes.size() + 8);
    EXPECT_TRUE(open_bytes(bytes).error);
  }
}

void expect_refused_as_usage(std::span<const std::byte> bytes, const char* layout,
                             const char* words) {
  const Outcome outcome = open_bytes(bytes, {layout, {}});
  ASSERT_TRUE(outcome.error) << layout;
  EXPECT_EQ(outcome.error->kind(), ErrorKind::usage);
  EXPECT_NE(outcome.error->message().find(words), std::string::npos) << outcome.error->what();
}

TEST(BadInput, ALayoutThatDoesNotFitOrDoesNotExist) {
  const ByteVector bytes = build(tiny_dump(session));
  expect_refused_as_usage(bytes, "ggsn10", "does not read as ggsn10, but as ggsn11.streams.rot/kv");
  expect_refused_as_usage(bytes, "nonsense", "does not read as nonsense, but as");
  EXPECT_TRUE(open_bytes(bytes, {"ggsn11", {}}).dump);
}

TEST(BadInput, AFileThatIsNotThere) {
  try {
    static_cast<void>(open_dump(testdata("no-such-file.ggsq").string()));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_TRUE(error.file().ends_with("no-such-file.ggsq"));
  }
  EXPECT_THROW(static_cast<void>(open_dump(testdata().string())), Error);
}

}  // namespace
}  // namespace kvtool::test
