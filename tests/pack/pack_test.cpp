// pack and unpack: byte-exact for every layout, the same bytes whatever the number of threads, and
// read directly without the rest.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "kvtool/error.h"
#include "kvtool/map.h"
#include "pack/packed_source.h"
#include "pack/packed.h"
#include "support/made_dump.h"
#include "support/payload.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

// Empty, or what went wrong on the way there and back.
std::string flaw_of_packing(const fs::path& path) {
  const ByteVector raw = read_file(path);
  OpenOptions options;
  options.trailing = Trailing::keep;
  const auto dump = std::make_shared<const Dump>(open_dump(path.string(), options));
  const ByteVector bytes = packed(*dump);
  PackOptions threads;
  threads.threads = 3;
  if (packed(*dump, threads) != bytes) return "another file with three threads";
  const auto source = opened_packed(bytes);
  if (unpacked(*source) != raw) return "unpacks to other bytes";
  if (unpacked(*source, 3) != raw) return "unpacks to other bytes with three threads";
  if (read_all(*source) != raw) return "reads other bytes";
  options.layout = dump->layout;
  const auto direct = std::make_shared<const Dump>(open_dump(source, options));
  return flaw_of(direct, raw);
}

struct Tally {
  std::size_t packed = 0;
  std::size_t refused = 0;
};

// Files that no kvtool reads are refused by open_dump already; that is not what this is about.
bool opens(const fs::path& path) {
  try {
    OpenOptions options;
    options.trailing = Trailing::keep;
    static_cast<void>(open_dump(path.string(), options));
    return true;
  } catch (const Error&) {
    return false;
  }
}

Tally expect_exact_below(const fs::path& folder) {
  Tally tally;
  for (const fs::path& path : dumps_below(folder)) {
    if (!opens(path)) {
      ++tally.refused;
      continue;
    }
    EXPECT_EQ(flaw_of_packing(path), "") << path;
    ++tally.packed;
  }
  return tally;
}

TEST(Pack, IsExactForEveryGenuineFile) {
  std::size_t files = 0;
  for (const char* folder : {"history", "modern", "server", "trained"})
    files += expect_exact_below(testdata(folder)).packed;
  EXPECT_GT(files, 100U);
}

TEST(Pack, IsExactForALargerCorpusToo) {
  const char* folder = std::getenv("KVTOOL_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "KVTOOL_CORPUS names no folder";
  const Tally tally = expect_exact_below(folder);
  std::cout << tally.packed << " files packed and unpacked, " << tally.refused << " not readable\n";
  EXPECT_GT(tally.packed, 0U);
}

// Several chunks a tensor, every kind of tensor.
std::vector<Shape> large_shapes() {
  std::vector<Shape> shapes;
  for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::q8_0, ElementType::q4_0, ElementType::q5_1}) {
    Shape shape;
    shape.cells = 700;
    shape.width = 512;
    shape.k_type = type;
    shape.v_type = type;
    shapes.push_back(shape);
  }
  Shape transposed = shapes[1];
  transposed.v_transposed = true;
  transposed.sequences = 3;
  transposed.order = CellOrder::random;
  shapes.push_back(transposed);
  return shapes;
}

TEST(Pack, IsExactForLargeTensors) {
  for (const Shape& shape : large_shapes()) {
    const auto dump = made_dump(shape);
    const ByteVector raw = read_all(*dump->source);
    ASSERT_GT(raw.size(), 3U << 18U);
    for (const int level : {1, 19}) {
      PackOptions options;
      options.level = level;
      const ByteVector bytes = packed(*dump, options);
      EXPECT_LT(bytes.size(), raw.size());
      EXPECT_EQ(unpacked(*opened_packed(bytes), 2), raw) << info(shape.k_type).name;
    }
  }
}

TEST(Pack, SameBytesWhateverTheThreads) {
  const auto dump = made_dump(large_shapes()[1]);
  const ByteVector bytes = packed(*dump);
  for (const unsigned threads : {0U, 2U, 5U, 16U, 1000U}) {
    PackOptions options;
    options.threads = threads;
    EXPECT_EQ(packed(*dump, options), bytes) << threads;
  }
}

// Counts what is read of the packed file itself.
struct Watched {
  std::shared_ptr<const Source> file;
  std::shared_ptr<Source> content;
  explicit Watched(const ByteVector& bytes)
      : file(memory_source("packed", bytes)), content(open_packed(file)) {}
};

// Header, index, footer, and the frames of the metadata section.
std::uint64_t bytes_to_inspect(const Source& content, std::uint64_t packed_size) {
  const auto& source = dynamic_cast<const packing::PackedSource&>(content);
  std::uint64_t tensors = 0;
  const auto& sections = source.container().index.sections;
  for (std::uint32_t s = 1; s < sections.size(); ++s)
    for (std::uint64_t c = 0; c < packing::chunk_count(sections[s]); ++c)
      tensors += source.map().frames_of(s, c).size;
  return packed_size - tensors;
}

TEST(DirectRead, InspectReadsIndexAndMetadataOnly) {
  const auto dump = made_dump(large_shapes()[1]);
  const ByteVector bytes = packed(*dump);
  const Watched watched(bytes);
  const Dump direct = open_dump(watched.content);
  EXPECT_FALSE(sections_of(direct).empty());
  const std::uint64_t needed = bytes_to_inspect(*watched.content, bytes.size());
  // 8 bytes of the magic, and the beginning of the header once more
  EXPECT_LE(watched.file->bytes_read(), needed + 32);
  EXPECT_LT(watched.file->bytes_read() * 20, bytes.size());
  std::cout << "opened " << dump->source->size() << " bytes by reading "
            << watched.file->bytes_read() << " of " << bytes.size() << "\n";
}

// One layer costs its own frames, and what is kept is not read again.
TEST(DirectRead, OneLayerWithoutTheRest) {
  const auto dump = made_dump(large_shapes()[1]);
  const ByteVector bytes = packed(*dump);
  const Watched watched(bytes);
  const Dump direct = open_dump(watched.content);
  const Extent k = direct.state.memories[0].streams[0].layers[1].k.extent;
  const std::uint64_t before = watched.file->bytes_read();
  ByteVector layer(static_cast<std::size_t>(k.size));
  watched.content->read_at(k.offset, layer);
  EXPECT_EQ(layer, read_extent(*dump, k.offset, k.size));
  const std::uint64_t once = watched.file->bytes_read() - before;
  EXPECT_LE(once, k.size);
  watched.content->read_at(k.offset, layer);
  EXPECT_EQ(watched.file->bytes_read() - before, once);
}

TEST(DirectRead, AnyPieceIsRight) {
  const auto dump = made_dump(large_shapes()[6]);
  const ByteVector raw = read_all(*dump->source);
  const auto content = opened_packed(packed(*dump));
  std::uint64_t at = 12345;
  for (int i = 0; i < 500; ++i) {
    at = at * 6364136223846793005U + 1442695040888963407U;
    const std::size_t offset = (at >> 20U) % raw.size();
    const std::size_t size = std::min<std::size_t>((at >> 8U) % 5000, raw.size() - offset);
    ByteVector piece(size);
    content->read_at(offset, piece);
    ASSERT_TRUE(std::equal(piece.begin(), piece.end(), raw.begin() + static_cast<long>(offset)));
  }
  ByteVector beyond(2);
  EXPECT_THROW(content->read_at(raw.size() - 1, beyond), Error);
}

TEST(Packing, SaysWhatItIs) {
  const auto dump = made_dump({});
  const ByteVector bytes = packed(*dump);
  const auto packing = packing_of(*opened_packed(bytes));
  ASSERT_TRUE(packing);
  EXPECT_EQ(packing->form, PackingForm::container);
  EXPECT_EQ(packing->packed_size, bytes.size());
  EXPECT_EQ(packing->layout, dump->layout);
  EXPECT_FALSE(packing_of(*dump->source));
}

}  // namespace
}  // namespace kvtool::test
