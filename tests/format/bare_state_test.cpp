// Bare states of a whole context of before August 2024: what they lack is told or follows, and is never
// guessed.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "kvtool/target.h"
#include "support/payload.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

// Two layers with rows of 64 elements, f16, 12 cells; and the session that was saved with it.
const char* const state_file = "history/v7-20240728-e54c35e4f-plain-raw.raw";
const char* const session_file = "history/v7-20240728-e54c35e4f-plain.ggsn";

OpenOptions with(BareShape shape, bool types = false) {
  OpenOptions options;
  options.bare = std::move(shape);
  if (types) options.k_type = options.v_type = ElementType::f16;
  return options;
}

Dump open_state(const OpenOptions& options, const char* file = state_file) {
  return open_dump(testdata(file).string(), options);
}

// The message with which the file is refused; empty if it opens.
std::string refusal(const OpenOptions& options, ErrorKind kind, const char* file = state_file) {
  try {
    static_cast<void>(open_state(options, file));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.message();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_content_of_session(const Dump& state) {
  const Dump session = open_dump(testdata(session_file).string());
  const Stream& a = state.state.memories.front().streams.front();
  const Stream& b = session.state.memories.front().streams.front();
  EXPECT_TRUE(a.cells == b.cells);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t l = 0; l < a.layers.size(); ++l)
    for (std::size_t c = 0; c < a.cells.size(); ++c) {
      EXPECT_EQ(cell_payload(state, a, a.layers[l].k, c), cell_payload(session, b, b.layers[l].k, c));
      EXPECT_EQ(cell_payload(state, a, a.layers[l].v, c), cell_payload(session, b, b.layers[l].v, c));
    }
}

// What a program of April 2023 got from llama_copy_state_data: a session of version 0 without magic,
// version, header struct of 32 bytes and ids.
ByteVector bare_pool() {
  const Dump session = open_dump(testdata("history/v0-20230428-1481a9cf2-plain.ggsn.zst").string());
  const std::uint64_t begin = 8 + 32 + 4 + 4 * session.tokens.words.size();
  return read_extent(session, begin, session.source->size() - begin);
}

std::string refusal_of_pool(ByteVector bytes, const OpenOptions& options) {
  try {
    static_cast<void>(open_dump(memory_source("pool", std::move(bytes)), options));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(BareState, OfVersion0DoesNotSayWhatIsInUse) {
  for (const OpenOptions& options : {OpenOptions(), with({false, 32, {32}, {32}}, true)})
    EXPECT_TRUE(contains(refusal_of_pool(bare_pool(), options), "how much of it is in use"));
  ByteVector cut = bare_pool();
  cut.pop_back();
  EXPECT_FALSE(contains(refusal_of_pool(std::move(cut), {}), "how much of it is in use"));
}

TEST(BareState, HoldsWhatTheSessionOfItsTimeHolds) {
  const Dump state = open_state(with({false, 2, {64}, {64}}));
  EXPECT_EQ(state.layout, "raw.s6/kv");
  expect_content_of_session(state);
}

TEST(BareState, IsReadWithTheShapeOfASessionOfTheModel) {
  const Dump session = open_dump(testdata(session_file).string());
  expect_content_of_session(open_state(with(bare_shape_of(shape_of_dump(session)))));
}

TEST(BareState, LayersOrWidthsFollowWhereTheTypesAreKnown) {
  expect_content_of_session(open_state(with({false, 2, {}, {}}, true)));
  expect_content_of_session(open_state(with({false, 0, {64}, {64}}, true)));
}

// 512 bytes a cell: 2 layers of 64 in f16 or of 32 in f32; 64 elements twice in f16, or once in f32.
TEST(BareState, NothingIsChosenBetweenSeveralShapes) {
  const std::string layers = refusal(with({false, 2, {}, {}}), ErrorKind::refused);
  EXPECT_TRUE(contains(layers, "2x32, 2x64")) << layers;
  const std::string widths = refusal(with({false, 0, {64}, {64}}), ErrorKind::refused);
  EXPECT_TRUE(contains(widths, "1x64, 2x64")) << widths;
}

TEST(BareState, AsksForWhatItLacks) {
  const std::string message = refusal({}, ErrorKind::refused);
  EXPECT_TRUE(contains(message, "--model MODEL.gguf, --like REF or --kv-shape")) << message;
}

TEST(BareState, AnotherModelsShapeDoesNotFit) {
  for (const BareShape& wrong : {BareShape{false, 3, {64}, {64}}, BareShape{false, 2, {96}, {96}},
                                 BareShape{true, 2, {64}, {64}}}) {
    const std::string message = refusal(with(wrong), ErrorKind::damaged);
    EXPECT_TRUE(contains(message, "raw.s6")) << message;
  }
}

// Older ones say nothing of their data's size, only of what is around it.
TEST(BareState, OlderOnesToo) {
  for (const char* file : {"history/v4-20240113-df845cc98-plain-raw.raw",
                           "history/v2-20231003-ac2219fef-plain-raw.raw.zst",
                           "history/v1-20230821-6381d4e11-plain-raw.raw.zst"}) {
    const Dump state = open_state(with({false, 2, {64}, {64}}), file);
    EXPECT_EQ(state.state.memories.front().streams.front().cells.size(), 12U) << state.layout;
  }
  EXPECT_EQ(open_state(with({false, 2, {}, {}}, true), "history/v4-20240113-df845cc98-plain-raw.raw").layout,
            "raw.s4.all/kv");
}

// A whole model, and one that has other memories than these files can hold.
TEST(BareState, ShapesOfModels) {
  const BareShape mamba = bare_shape_of(open_gguf(open_source(testdata("models/mamba.gguf").string())));
  EXPECT_TRUE(mamba.recurrent);
  EXPECT_EQ(mamba.k_width, std::vector<std::uint64_t>{3 * 128});  // inputs of a convolution of 4
  EXPECT_EQ(mamba.v_width, std::vector<std::uint64_t>{8 * 128});  // 8 numbers of state for each of 128
  const Gguf jamba = open_gguf(open_source(testdata("models/jamba.gguf").string()));
  EXPECT_THROW(static_cast<void>(bare_shape_of(jamba)), Error);
}

}  // namespace
}  // namespace kvtool::test
