// Every call to the disk of every kind of rewrite fails once: the old file stays whole or the new one
// is, nothing is left beside it, and the error says what happened.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "io/failing_disk.h"
#include "io/fault_jobs.h"
#include "io/file_source.h"
#include "io/output_file.h"
#include "kvtool/error.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

namespace fs = std::filesystem;
using test::FailingDisk;
using test::Job;
using test::jobs;

const std::string old_content = "what was there before";

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Calls for which there is no other way. (A mapping, a copy inside the kernel and an unnamed file have
// one, holes need not be found, and nothing is lost when an input does not close.)
bool must_be_told(const std::string& call) {
  static const std::set<std::string> all = {"pread",  "write",  "writev", "pwrite",
                                            "fsync",  "fchmod", "rename", "link_unnamed"};
  return all.count(call) == 1;
}

// A folder of its own, with a file that is about to be replaced.
class FaultTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "kvtool-fault-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    put_old_file();
  }
  void TearDown() override { fs::remove_all(folder_); }
  static void TearDownTestSuite() { fmt::print("{} faults injected\n", faults); }

  fs::path target() const { return folder_ / "out"; }
  void put_old_file() const { std::ofstream(target(), std::ios::binary) << old_content; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  // The job from opening to the new name, all through this disk.
  void run(FailingDisk& disk) const {
    const Job& job = jobs().at(GetParam());
    const std::string path = test::testdata(job.file).string();
    const int fd = disk.open(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) throw Error(ErrorKind::io, system_message()).in_file(path);
    const auto dump =
        std::make_shared<const Dump>(open_dump(std::make_shared<FileSource>(disk, path, fd)));
    OutputFile output(disk, target().string(), {.overwrite = true, .mode = 0640});
    job.write(dump, output);
    output.commit();
  }

  std::string expected() const {
    FailingDisk sound;
    run(sound);
    const std::string content = content_of(target());
    put_old_file();
    return content;
  }

  // Fails each call in turn, until there is none with that number. Answers how many runs failed.
  int fail_every_call(const std::string& fresh, int error, bool no_unnamed_files) const {
    int errors = 0;
    for (int call = 1;; ++call) {
      FailingDisk disk;
      disk.failing_call = call;
      disk.error = error;
      disk.no_unnamed_files = no_unnamed_files;
      const bool refused = is_refused(disk);
      if (disk.failed().empty()) return errors;
      ++faults;
      SCOPED_TRACE(disk.failed() + ", call " + std::to_string(call));
      const std::string found = content_of(target());
      EXPECT_TRUE(refused || !must_be_told(disk.failed()));
      EXPECT_TRUE(found == fresh || (refused && !disk.renamed() && found == old_content));
      EXPECT_EQ(files(), 1U) << "something is left beside the file";
      errors += refused ? 1 : 0;
      put_old_file();
    }
  }

  bool is_refused(FailingDisk& disk) const {
    try {
      run(disk);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      EXPECT_FALSE(disk.failed().empty()) << error.what();
      return true;
    }
    return false;
  }

 private:
  static inline int faults = 0;
  fs::path folder_;
};

TEST_P(FaultTest, NoSpaceLeft) {
  const std::string fresh = expected();
  ASSERT_NE(fresh, old_content);
  for (const bool no_unnamed_files : {false, true})
    EXPECT_GT(fail_every_call(fresh, ENOSPC, no_unnamed_files), 5);
}

TEST_P(FaultTest, ADeviceThatFails) {
  EXPECT_GT(fail_every_call(expected(), EIO, false), 5);
}

// Signals and pieces of any size change nothing.
TEST_P(FaultTest, InterruptedAndInPieces) {
  const std::string fresh = expected();
  for (const bool no_unnamed_files : {false, true}) {
    FailingDisk disk;
    disk.stingy = true;
    disk.no_unnamed_files = no_unnamed_files;
    run(disk);
    EXPECT_EQ(content_of(target()), fresh);
    put_old_file();
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& [name, job] : jobs()) all.push_back(name);
  return all;
}

std::string without_hyphens(const testing::TestParamInfo<std::string>& name) {
  std::string text = name.param;
  std::erase(text, '-');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Jobs, FaultTest, testing::ValuesIn(names()), without_hyphens);

}  // namespace
}  // namespace kvtool
