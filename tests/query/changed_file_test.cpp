// A file that changes while it is looked at is reported, and what was read of it is not used.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kvtool/error.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool {
namespace {

namespace fs = std::filesystem;

class ChangedFile : public ::testing::Test {
 protected:
  ChangedFile() {
    fs::copy_file(test::testdata("server/b0.7.0/grow-turn1.ggsq"), path_,
                  fs::copy_options::overwrite_existing);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  ~ChangedFile() override { fs::remove(path_); }

  std::string path_ = (fs::path(::testing::TempDir()) / "changed_file_test.ggsq").string();
};

TEST_F(ChangedFile, UnchangedIsFine) {
  const auto source = open_source(path_);
  static_cast<void>(open_dump(source));
  EXPECT_NO_THROW(source->require_unchanged());
}

TEST_F(ChangedFile, WrittenToIsNoticed) {
  const auto source = open_source(path_);
  std::ofstream(path_, std::ios::app) << "more";
  EXPECT_THROW(source->require_unchanged(), Error);
}

TEST_F(ChangedFile, SameSizeButWrittenLaterIsNoticed) {
  const auto source = open_source(path_);
  fs::last_write_time(path_, fs::last_write_time(path_) + std::chrono::seconds(1));
  EXPECT_THROW(source->require_unchanged(), Error);
}

TEST_F(ChangedFile, CutWhileItIsReadIsAnErrorOfTheSystem) {
  const auto source = open_source(path_);
  fs::resize_file(path_, 100);
  try {
    static_cast<void>(open_dump(source));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.file(), path_);
  }
}

}  // namespace
}  // namespace kvtool
