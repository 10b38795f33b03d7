// Dumps in which bytes or whole fields are wrong: never a crash, never memory for what a field
// claims, and what opens all the same is sound.
#include <limits>

#include "support/allocation.h"
#include "support/damage.h"
#include "support/tiny_dump.h"

namespace kvtool::test {
namespace {

// What opening may take beyond twice the file: buffers, candidates and error texts.
constexpr std::size_t allowance = std::size_t{192} << 10U;

// Opens damaged bytes and checks what came of it. Answers whether they opened.
bool survives(const ByteVector& bytes, const std::string& what) {
  const AllocationMeter meter;
  auto source = std::make_shared<ViewSource>(bytes);
  Outcome outcome;
  try {
    outcome.dump = std::make_shared<const Dump>(open_dump(source));
  } catch (const Error& error) {
    outcome.error = error;
  }
  EXPECT_LE(meter.peak(), 2 * bytes.size() + allowance) << what;
  EXPECT_LE(source->bytes_read(), 300 * (bytes.size() + 16)) << what;
  EXPECT_EQ(flaw_of(outcome, bytes), "") << what;
  return outcome.dump != nullptr;
}

TEST(AllocationMeter, SeesWhatIsTakenAndGivenBack) {
  const AllocationMeter meter;
  { const ByteVector much(std::size_t{1} << 20U); }
  EXPECT_GE(meter.peak(), std::size_t{1} << 20U);
  EXPECT_LT(AllocationMeter().peak(), std::size_t{1} << 16U);
}

std::vector<MapRange> fields_of(const ByteVector& bytes) {
  const Outcome whole = open_bytes(bytes);
  if (whole.dump) return metadata_of(*whole.dump);
  ADD_FAILURE() << "the whole file does not open: " << whole.error->what();
  return {};
}

// How bytes are damaged. Old layouts and the fork's are many and alike, so each of their bytes gets one
// of the three.
std::vector<unsigned> flips_of(const TinyDump& tiny, std::uint64_t at) {
  static const std::vector<unsigned> all = {0xffU, 0x01U, 0x80U};
  const Dialect& d = tiny.dialect;
  if (d.body == Body::current && d.family == Family::llama_cpp) return all;
  return {all[at % 3]};
}

// Of the long arrays of a header struct, of which the model's layers fill the first two.
bool is_looked_at(const MapRange& field, std::uint64_t at) {
  return at - field.offset < 16 || at % 64 == 0;
}

TEST(Corruption, EveryMetadataByteOfEveryLayout) {
  std::size_t damaged = 0;
  for (const TinyDump& tiny : tiny_dumps()) {
    SCOPED_TRACE(tiny.layout);
      ByteVector bytes = build(tiny);
    for (const MapRange& field : fields_of(bytes))
      for (std::uint64_t at = field.offset; at < field.offset + field.size; ++at)
        for (const unsigned flip : flips_of(tiny, at)) {
          if (!is_looked_at(field, at)) continue;
          bytes[at] ^= static_cast<std::byte>(flip);
          survives(bytes, fmt::format("{} ^ {:#x} at {} ({})", tiny.layout, flip, at, field.label));
          bytes[at] ^= static_cast<std::byte>(flip);
          ++damaged;
        }
  }
  EXPECT_GT(damaged, 20000U);
}

// Fields that count or measure what follows.
bool is_word_count(const std::string& name) {
  static const std::set<std::string> names = {"n_token",    "n_outputs", "n_stream", "n_layer",
                                              "cell_count", "n_seq",     "count",    "arch",
                                              "rng_size",   "v_dim",     "v_el",     "head",
                                              "s_rows"};
  return names.count(name) == 1;
}

// Words of such names that move nothing: `size` of old sessions is the length of the context, `count`
// of version 0 was never set, and `head` of deepseek4's caches has no meaning in a file.
bool is_free(const TinyDump& tiny, const std::string& name) {
  const Body body = tiny.dialect.body;
  return (body >= Body::cells && body != Body::typed_slot && name == "size") ||
         (body == Body::pool && name == "count") || (body == Body::current && name == "head");
}

bool is_size(const std::string& name) {
  static const std::set<std::string> names = {"n_logits", "n_embd", "size",   "k_row",
                                              "v_row",    "r_row",  "s_row",  "ple_row"};
  return names.count(name) == 1;
}

// The tail is kept as it is where it does not parse, so a lie there can pass; elsewhere it cannot.
bool in_tail(const MapRange& field) { return field.label.rfind("tail", 0) == 0; }

template <class T>
void expect_lie_is_noticed(const ByteVector& original, const MapRange& field, T lie) {
  ByteVector bytes = original;
  poke(bytes, static_cast<std::size_t>(field.offset), lie);
  const std::string what = fmt::format("{} = {}", field.label, lie);
  const bool opened = survives(bytes, what);
  EXPECT_TRUE(!opened || in_tail(field)) << what << " was believed";
}

TEST(Corruption, CountsThatNoFileCouldHold) {
  std::size_t lies = 0;
  for (const TinyDump& tiny : tiny_dumps()) {
    SCOPED_TRACE(tiny.layout);
    const ByteVector bytes = build(tiny);
    for (const MapRange& field : fields_of(bytes)) {
      if (!is_word_count(field_of(field)) || is_free(tiny, field_of(field))) continue;
      for (const std::uint32_t lie : {0x7fffffffU, 0x80000000U, 0xffffffffU})
        expect_lie_is_noticed(bytes, field, lie);
      ++lies;
    }
  }
  EXPECT_GT(lies, 400U);
}

// Row sizes whose product with the cells wraps to something small: 3 cells times 2^64 / 3 and the
// like, and all that is large.
TEST(Corruption, SizesWhoseProductWraps) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::size_t lies = 0;
  for (const TinyDump& tiny : tiny_dumps()) {
    SCOPED_TRACE(tiny.layout);
    const ByteVector bytes = build(tiny);
    for (const MapRange& field : fields_of(bytes)) {
      if (!is_size(field_of(field)) || is_free(tiny, field_of(field))) continue;
      for (const std::uint64_t lie : {most, most - 3, most / 4 + 1, most / 2 + 1, most / 3 / 4 * 4,
                                      most / 3 / 4 * 4 + 4, std::uint64_t{1} << 32U})
        expect_lie_is_noticed(bytes, field, lie);
      ++lies;
    }
  }
  EXPECT_GT(lies, 200U);
}

TEST(Corruption, CountsOfZero) {
  for (const TinyDump& tiny : tiny_dumps()) {
    const ByteVector original = build(tiny);
    for (const MapRange& field : fields_of(original)) {
      if (!is_word_count(field_of(field)) && !is_size(field_of(field))) continue;
      if (is_free(tiny, field_of(field))) continue;
      ByteVector bytes = original;
      const auto at = static_cast<std::size_t>(field.offset);
      if (is_size(field_of(field)))
        poke(bytes, at, std::uint64_t{0});
      else
        poke(bytes, at, std::uint32_t{0});
      survives(bytes, fmt::format("{}: {} = 0", tiny.layout, field.label));
    }
  }
}

// A large file covers many small things, so a count can be too high and yet fit the bytes.
TEST(Corruption, CountsThatTheBytesWouldCover) {
  TinyDump tiny = tiny_dump("ggsq4.streams.rot/kv");
  const std::size_t state = [&] {
    TinyDump bare = tiny;
    bare.checkpoints = bare.draft = false;
    return build(bare).size();
  }();
  ByteVector bytes = build(tiny);
  bytes.resize(bytes.size() + (std::size_t{2} << 20U));
  const ByteVector original = bytes;
  for (const std::uint32_t lie : {3000U, 20000U, 50000U}) {
    bytes = original;
    poke(bytes, 72, lie);  // n_layer of the first stream
    survives(bytes, fmt::format("n_layer = {}", lie));
    bytes = original;
    poke(bytes, state + 8, lie);  // count of checkpoints
    survives(bytes, fmt::format("count = {}", lie));
    bytes = original;
    poke(bytes, 8, lie);
    survives(bytes, fmt::format("n_token = {}", lie));
    bytes = original;
    poke(bytes, 28, lie);
    survives(bytes, fmt::format("cell_count = {}", lie));
  }
}

}  // namespace
}  // namespace kvtool::test
