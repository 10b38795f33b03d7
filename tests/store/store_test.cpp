// A store gives back exactly what was put, of every layout, and refuses what is no name.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "store/store_folder.h"
#include "support/made_dump.h"
#include "support/testdata.h"

namespace kvtool::test {
namespace {

namespace fs = std::filesystem;

// Nothing for files that no kvtool reads.
std::shared_ptr<const Dump> opened(const fs::path& path) {
  OpenOptions options;
  options.trailing = Trailing::keep;
  try {
    return std::make_shared<const Dump>(open_dump(path.string(), options));
  } catch (const Error&) {
    return nullptr;
  }
}

// The file in pieces of an odd size, as a verb might read it.
ByteVector in_pieces(const Source& source) {
  ByteVector bytes(static_cast<std::size_t>(source.size()));
  for (std::size_t at = 0; at < bytes.size(); at += 1009)
    source.read_at(at,
                   std::span(bytes).subspan(at, std::min<std::size_t>(1009, bytes.size() - at)));
  return bytes;
}

std::size_t expect_exact_below(const fs::path& folder) {
  const StoreFolder where;
  Store store = where.open();
  std::size_t put = 0;
  for (const fs::path& path : dumps_below(folder)) {
    const auto dump = opened(path);
    if (dump == nullptr) continue;
    const std::string name = std::to_string(put++);
    store.put(name, *dump);
    const ByteVector raw = read_file(path);
    const auto source = store.get(name);
    EXPECT_EQ(all_of(*source), raw) << path;
    EXPECT_EQ(in_pieces(*source), raw) << path;
    OpenOptions same;
    same.layout = dump->layout;
    same.trailing = Trailing::keep;
    EXPECT_EQ(open_dump(source, same).layout, dump->layout) << path;
  }
  const VerifyReport report = store.verify();
  EXPECT_EQ(report.entries, put);
  EXPECT_EQ(report.problems, std::vector<std::string>());
  return put;
}

TEST(Store, GivesBackEveryFile) { EXPECT_GT(expect_exact_below(testdata()), 50U); }

TEST(Store, GivesBackEveryFileOfTheCorpus) {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "KVTOOL_CORPUS is not set";
  EXPECT_GT(expect_exact_below(corpus), 400U);
}

TEST(Store, TransposedAndScatteredCells) {
  const StoreFolder where;
  Store store = where.open();
  Shape shape;
  shape.streams = 2;
  shape.cells = 333;
  shape.sequences = 3;
  shape.shared = 20;
  shape.unused = 7;
  shape.order = CellOrder::random;
  shape.v_transposed = true;
  shape.k_type = ElementType::q8_0;
  const auto dump = made_dump(shape);
  store.put("scattered", *dump);
  EXPECT_EQ(all_of(*store.get("scattered")), all_of(*dump->source));
}

TEST(Store, KeepsWhatWasSaidOfAnEntry) {
  const StoreFolder where;
  Store store = where.open();
  const auto dump = made_dump(Shape{});
  PutOptions options;
  options.note = "a note";
  options.tags = {"b", "a", "b"};
  store.put("Grüße, 世界", *dump, options);
  store.pin("Grüße, 世界", true);
  const StoreEntry entry = where.open().entry("Grüße, 世界");
  EXPECT_EQ(entry.note, "a note");
  EXPECT_EQ(entry.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(entry.pinned);
  EXPECT_EQ(entry.layout, dump->layout);
  EXPECT_EQ(entry.file_bytes, dump->source->size());
  EXPECT_EQ(entry.prompt.tokens, dump->tokens.ids.size());
  EXPECT_FALSE(entry.model);
}

TEST(Store, RefusesWhatIsNoName) {
  const StoreFolder where;
  Store store = where.open();
  const auto dump = made_dump(Shape{});
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"),
        std::string("a\0b", 3), std::string("a\nb"), std::string("\xff"), std::string(256, 'x')})
    EXPECT_THROW(store.put(name, *dump), Error) << name;
  EXPECT_NO_THROW(store.put("...", *dump));
  EXPECT_NO_THROW(store.put(std::string(255, 'x'), *dump));
}

TEST(Store, ATakenNameIsReplacedOnRequestOnly) {
  const StoreFolder where;
  Store store = where.open();
  Shape other;
  other.seed = 2;
  store.put("name", *made_dump(Shape{}));
  EXPECT_THROW(store.put("name", *made_dump(other)), Error);
  PutOptions replace;
  replace.replace = true;
  store.put("name", *made_dump(other), replace);
  EXPECT_EQ(all_of(*store.get("name")), all_of(*made_dump(other)->source));
  EXPECT_EQ(store.entries().size(), 1U);
}

TEST(Store, UnknownNamesAndFoldersAreErrors) {
  const StoreFolder where;
  Store store = where.open();
  EXPECT_THROW(static_cast<void>(store.get("nobody")), Error);
  EXPECT_THROW(store.remove("nobody"), Error);
  EXPECT_THROW(store.pin("nobody", true), Error);
  EXPECT_THROW(static_cast<void>(store.verify({"nobody"})), Error);
  EXPECT_THROW(Store(where.path() + "/blocks"), Error);
  EXPECT_THROW(Store::init(where.path(), std::nullopt), Error);
}

TEST(Store, OnlyItsOwnerReadsIt) {
  const StoreFolder where;
  where.open().put("name", *made_dump(Shape{}));
  const auto mode = [](const fs::path& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 0777U;
  };
  EXPECT_EQ(mode(where.path()), 0700U);
  for (const auto& entry : fs::recursive_directory_iterator(where.path()))
    EXPECT_EQ(mode(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
}

// A flipped byte anywhere in the blocks is found, by get and by verify.
TEST(Store, DamageIsFound) {
  Shape shape;
  shape.cells = 40;
  const auto dump = made_dump(shape);
  const StoreFolder where;
  Store store = where.open();
  store.put("name", *dump);
  const fs::path file = fs::directory_iterator(where.path() + "/blocks")->path();
  const auto size = static_cast<std::size_t>(fs::file_size(file));
  constexpr std::size_t magic_bytes = 16;
  for (std::size_t at = magic_bytes; at < size; at += 97) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    const auto flip = [&] {
      bytes.seekg(static_cast<std::streamoff>(at));
      const int byte = bytes.get();
      bytes.seekp(static_cast<std::streamoff>(at));
      bytes.put(static_cast<char>(byte ^ 0x10));
      bytes.flush();
    };
    flip();
    EXPECT_EQ(store.verify().problems.size(), 1U) << "byte " << at;
    flip();
  }
  EXPECT_TRUE(store.verify().problems.empty());
}

}  // namespace
}  // namespace kvtool::test
