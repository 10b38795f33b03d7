// Peak memory of the program itself: it must not grow with the file. Measured by the system, on
// files of more than 4 GiB that are nearly all holes (and stay so), and on real ones that are gathered cell by cell.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

#include "support/made_dump.h"
#include "support/made_file.h"

namespace kvtool::test {
namespace {

constexpr long most_kib = 64L << 10;

struct Outcome {
  int status = -1;  // exit status, -1 when it did not exit
  long peak_kib = 0;
};

[[noreturn]] void become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int null = ::open("/dev/null", O_WRONLY);
  if (null >= 0 && ::dup2(null, STDOUT_FILENO) >= 0) ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

// Runs a command with its standard output thrown away.
Outcome run(const std::vector<std::string>& command) {
  const pid_t child = ::fork();
  if (child == 0) become(command);
  int status = 0;
  struct rusage usage {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return {};
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, usage.ru_maxrss};
}

// Runs the program that $KVTOOL names.
void expect_small(std::vector<std::string> arguments) {
  const char* program = std::getenv("KVTOOL");
  ASSERT_NE(program, nullptr) << "KVTOOL must name the program; ctest does that";
  arguments.insert(arguments.begin(), program);
  const Outcome outcome = run(arguments);
  std::cout << arguments[1] << ": " << outcome.peak_kib / 1024 << " MiB at most\n";
  EXPECT_EQ(outcome.status, 0) << arguments[1];
  EXPECT_LT(outcome.peak_kib, most_kib) << arguments[1];
  if (std::getenv("KVTOOL_SHOW_PEAKS") != nullptr)  // for who wants the figures
    fmt::print("{:6.1f} MiB  {}\n", static_cast<double>(outcome.peak_kib) / 1024, fmt::join(arguments, " "));
}

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "kvtool-memory-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    folder_ = name;
    in_ = (folder_ / "in").string();
    out_ = (folder_ / "out").string();
  }
  ~MemoryTest() override { std::filesystem::remove_all(folder_); }

  void make_sparse(const Shape& shape) const {
    MadeFile file(in_);
    write_made_sparse(made_facts(shape), file);
    file.close();
    ASSERT_GT(std::filesystem::file_size(in_), std::uint64_t{1} << 30U);
  }
  void make(const Shape& shape) const {
    MadeFile file(in_);
    write_made(made_facts(shape), shape.seed, file);
    file.close();
  }

  std::filesystem::path folder_;
  std::string in_;
  std::string out_;
};

constexpr std::uint64_t most_on_disk = 64U << 20U;

std::uint64_t bytes_on_disk(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

// 4.3 GiB: tensors of 80 MiB, every cell in a place of its own.
Shape huge() {
  Shape shape;
  shape.cells = 2048;
  shape.sequences = 4;
  shape.order = CellOrder::random;
  shape.layers = 27;
  shape.width = 20480;
  return shape;
}

TEST_F(MemoryTest, SparseFileBeyondFourGiB) {
  make_sparse(huge());
  ASSERT_GT(std::filesystem::file_size(in_), std::uint64_t{4} << 30U);
  expect_small({"inspect", in_});
  expect_small({"swap", in_, "5", "2000", "-o", out_});
  EXPECT_LT(bytes_on_disk(out_), most_on_disk);
  expect_small({"defrag", in_, "-o", out_, "--force"});
  EXPECT_LT(bytes_on_disk(out_), most_on_disk);
  expect_small({"defrag", in_, "-o", "-"});
}

TEST_F(MemoryTest, SparseFileBeyondFourGiBWithTransposedV) {
  Shape shape = huge();
  shape.width *= 2;
  shape.v_width = 1024;
  shape.v_transposed = true;
  make_sparse(shape);
  expect_small({"inspect", in_});
  expect_small({"move", in_, "5", "1000", "100", "-o", out_});
  expect_small({"defrag", in_, "-o", out_, "--force"});
  expect_small({"defrag", in_, "-o", "-"});
}

// Tensors of 32 MiB, the largest that are mapped as a whole, and of 64 MiB, gathered into a file.
TEST_F(MemoryTest, ScatteredCellsOfARealFile) {
  for (const std::uint32_t width : {1024U, 2048U})
    for (const bool transposed : {false, true}) {
      Shape shape = huge();
      shape.cells = 16384;
      shape.layers = 1;
      shape.width = width;
      shape.v_transposed = transposed;
      make(shape);
      expect_small({"defrag", in_, "-o", out_, "--force"});
    }
}

// Tensors of 32 MiB, which are turned as a whole, and of 64 MiB, which are not.
TEST_F(MemoryTest, ConversionsOfARealFile) {
  for (const std::uint32_t width : {1024U, 2048U})
    for (const bool transposed : {false, true}) {
      Shape shape = huge();
      shape.cells = 16384;
      shape.layers = 1;
      shape.width = width;
      shape.v_transposed = transposed;
      make(shape);
      const char* other = transposed ? "on" : "off";
      expect_small({"convert", in_, "-fa", other, "-o", out_, "--force"});
      expect_small({"convert", in_, "-fa", other, "-o", "-"});
      expect_small({"convert", in_, "-ctv", "f32", "-o", out_, "--force"});
      expect_small({"convert", in_, "-ctk", "q8_0", "--no-rotation", "-o", out_, "--force"});
      if (transposed) continue;  // not with types of blocks
      expect_small({"convert", in_, "-ctv", "q4_0", "--no-rotation", "-o", "-"});
    }
}

// 1.1 GiB and more, so that what turns K need not write more than half of that.
Shape large() {
  Shape shape = huge();
  shape.layers = 9;
  return shape;
}

std::vector<std::string> with_rope(std::vector<std::string> arguments) {
  for (const char* word : {"--rope-pairs", "neox", "--rope-freq-base", "10000", "--head-size", "128"})
    arguments.emplace_back(word);
  return arguments;
}

// K of every cell turns, in f16 and in rotated blocks; cells in order, and one by one.
TEST_F(MemoryTest, ShiftsOfALargeFile) {
  for (const auto& [type, order, rotation] :
       {std::tuple{ElementType::f16, CellOrder::tidy, "none"},
        std::tuple{ElementType::f16, CellOrder::random, "none"},
        std::tuple{ElementType::q8_0, CellOrder::random, "hadamard"}}) {
    Shape shape = large();
    shape.version = 10;  // does not say how rows are rotated
    shape.k_type = type;
    shape.order = order;
    make_sparse(shape);
    expect_small(with_rope({"seq", "shift", in_, "--by", "3", "--rotation", rotation, "-o", out_,
                            "--force"}));
  }
}

TEST_F(MemoryTest, SequenceEditsOfALargeFile) {
  make_sparse(large());
  expect_small({"seq", "cp", in_, "0", "9", "-o", out_, "--force"});
  expect_small({"seq", "keep", in_, "2", "-o", out_, "--force"});
  expect_small({"extract", in_, "--seq", "3", "-o", out_, "--force"});
  expect_small({"merge", in_, in_, "--renumber", "-o", out_, "--force"});
}

// V in columns holds every cell of a sequence in places of their own.
TEST_F(MemoryTest, SequenceEditsOfALargeFileWithTransposedV) {
  Shape shape = large();
  shape.v_transposed = true;
  make_sparse(shape);
  expect_small(with_rope({"seq", "rm", in_, "--seq", "1", "--pos", "5:50", "--close", "-o", out_,
                          "--force"}));
  expect_small({"defrag", in_, "--share", "-o", out_, "--force"});
}

TEST_F(MemoryTest, TruncationAndAppendOfALargeFile) {
  Shape shape = large();
  shape.container = Container::slot;
  shape.version = 4;
  shape.sequences = 1;
  make_sparse(shape);
  expect_small({"truncate", in_, "1000", "-o", out_, "--force"});
  expect_small(with_rope({"merge", "--append", in_, in_, "-o", out_, "--force"}));
}

TEST_F(MemoryTest, MeasurementNoticesAProgramThatTakesMore) {
  const Outcome outcome = run({"dd", "if=/dev/zero", "of=/dev/null", "bs=96M", "count=1",
                               "status=none"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_GT(outcome.peak_kib, most_kib);
}

}  // namespace
}  // namespace kvtool::test
