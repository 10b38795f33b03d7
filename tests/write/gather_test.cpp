// Gathering of cells, compared with a reference that takes one element after the other.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/descriptor_writer.h"
#include "io/file_source.h"
#include "support/bytes.h"
#include "write/gather.h"

namespace kvtool::test {
namespace {

using Random = std::mt19937_64;

std::uint64_t pick(Random& random, std::uint64_t least, std::uint64_t most) {
  return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
}

// A file in memory.
int memory_file() {
  const int fd = ::memfd_create("gather", MFD_CLOEXEC);
  if (fd < 0) throw std::runtime_error("no file in memory");
  return fd;
}

void write_all(int fd, const ByteVector& bytes) {
  DescriptorWriter(Disk::system(), "sample").write(fd, bytes);
}

// Copies as an output file does, without its syncing.
class FileSink final : public Sink {
 public:
  FileSink() = default;
  ~FileSink() override { ::close(fd_); }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  void write(std::span<const std::byte> bytes) override { writer_.write(fd_, bytes); }
  void copy_ranges(const Source& source, std::span<const Extent> ranges) override {
    writer_.copy(fd_, source, ranges);
  }
  [[nodiscard]] ByteVector bytes() const {
    ByteVector all(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)));
    EXPECT_EQ(::pread(fd_, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

 private:
  int fd_ = memory_file();
  DescriptorWriter writer_{Disk::system(), "output", Destination::file};
};

// A tensor of random bytes behind some other bytes, in memory and in a file.
struct Sample {
  ByteVector bytes;
  std::shared_ptr<Source> memory;
  std::shared_ptr<Source> file;
  Tensor tensor;
  std::uint64_t cells = 0;
};

Sample make_sample(Random& random, Tensor tensor, std::uint64_t cells) {
  Sample sample;
  sample.cells = cells;
  tensor.extent = {pick(random, 0, 9000), tensor.cell_bytes() * cells};
  sample.tensor = tensor;
  sample.bytes.resize(static_cast<std::size_t>(tensor.extent.end()));
  for (std::byte& byte : sample.bytes) byte = static_cast<std::byte>(random());
  const int fd = memory_file();
  write_all(fd, sample.bytes);
  sample.memory = memory_source("sample", sample.bytes);
  sample.file = std::make_shared<FileSource>(Disk::system(), "sample", fd);
  return sample;
}

Tensor rows_of(std::uint64_t row_bytes) {
  Tensor tensor;
  tensor.orientation = Orientation::rows;
  tensor.row_bytes = row_bytes;
  return tensor;
}

Tensor columns_of(std::uint32_t element_bytes, std::uint32_t width) {
  Tensor tensor;
  tensor.orientation = Orientation::transposed;
  tensor.element_bytes = element_bytes;
  tensor.width = width;
  return tensor;
}

// Which cells of which sample, in output order.
struct Choice {
  std::size_t sample;
  std::uint64_t first;
  std::uint64_t count;
};
using Choices = std::vector<Choice>;

// The element of one cell in one channel; rows are channels of one byte.
std::span<const std::byte> element(const Sample& sample, std::uint64_t channel,
                                   std::uint64_t cell) {
  const Tensor& t = sample.tensor;
  const bool rows = t.orientation == Orientation::rows;
  const std::uint64_t size = rows ? 1 : t.element_bytes;
  const std::uint64_t at = rows ? cell * t.row_bytes + channel : (channel * sample.cells + cell) * size;
  return std::span(sample.bytes).subspan(static_cast<std::size_t>(t.extent.offset + at),
                                         static_cast<std::size_t>(size));
}

ByteVector expected(const std::vector<Sample>& samples, const Choices& choices) {
  const Tensor& t = samples.front().tensor;
  ByteVector out;
  auto take = [&](std::uint64_t channel, const Choice& choice, std::uint64_t i) {
    const auto bytes = element(samples[choice.sample], channel, choice.first + i);
    out.insert(out.end(), bytes.begin(), bytes.end());
  };
  if (t.orientation == Orientation::rows)
    for (const Choice& choice : choices)
      for (std::uint64_t i = 0; i < choice.count; ++i)
        for (std::uint64_t byte = 0; byte < t.row_bytes; ++byte) take(byte, choice, i);
  else
    for (std::uint64_t channel = 0; channel < t.width; ++channel)
      for (const Choice& choice : choices)
        for (std::uint64_t i = 0; i < choice.count; ++i) take(channel, choice, i);
  return out;
}

std::vector<TensorRun> runs_of(const std::vector<Sample>& samples, const Choices& choices,
                               bool from_file) {
  std::vector<TensorRun> runs;
  for (const Choice& c : choices) {
    const Sample& sample = samples[c.sample];
    const Source* source = from_file ? sample.file.get() : sample.memory.get();
    runs.push_back({{source, &sample.tensor, sample.cells}, c.first, c.count});
  }
  return runs;
}

void gather(const std::vector<TensorRun>& runs, Orientation orientation, Sink& sink) {
  orientation == Orientation::rows ? gather_rows(runs, sink) : gather_columns(runs, sink);
}

ByteVector in_memory(const std::vector<Sample>& samples, const Choices& choices) {
  MemorySink sink;
  gather(runs_of(samples, choices, false), samples.front().tensor.orientation, sink);
  return sink.bytes();
}

// From file to file, where the kernel copies, behind and before other bytes.
ByteVector in_files(const std::vector<Sample>& samples, const Choices& choices) {
  FileSink sink;
  sink.write(Bytes().text("header").get());
  gather(runs_of(samples, choices, true), samples.front().tensor.orientation, sink);
  sink.write(Bytes().text("end").get());
  const ByteVector whole = sink.bytes();
  EXPECT_EQ(ByteVector(whole.begin(), whole.begin() + 6), Bytes().text("header").get());
  EXPECT_EQ(ByteVector(whole.end() - 3, whole.end()), Bytes().text("end").get());
  return {whole.begin() + 6, whole.end() - 3};
}

void expect_gathered(const std::vector<Sample>& samples, const Choices& choices) {
  const ByteVector wanted = expected(samples, choices);
  EXPECT_TRUE(in_memory(samples, choices) == wanted);
  EXPECT_TRUE(in_files(samples, choices) == wanted);
}

// All cells of all samples in runs of up to `longest`, mixed.
Choices shuffled(const std::vector<Sample>& samples, Random& random, std::uint64_t longest) {
  Choices choices;
  for (std::size_t s = 0; s < samples.size(); ++s)
    for (std::uint64_t first = 0; first < samples[s].cells;) {
      const std::uint64_t count =
          std::min(pick(random, 1, longest), samples[s].cells - first);
      choices.push_back({s, first, count});
      first += count;
    }
  std::shuffle(choices.begin(), choices.end(), random);
  return choices;
}

// Rows and columns of every element size.
std::vector<Tensor> shapes(Random& random) {
  std::vector<Tensor> all = {rows_of(1), rows_of(pick(random, 2, 300)), rows_of(4096)};
  for (const std::uint32_t element_bytes : {1U, 2U, 4U, 8U})
    all.push_back(columns_of(element_bytes, static_cast<std::uint32_t>(pick(random, 1, 40))));
  return all;
}

TEST(Gather, RandomRunsOfOneSource) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Random random(seed);
    for (const Tensor& tensor : shapes(random)) {
      const std::vector<Sample> samples = {
          make_sample(random, tensor, pick(random, 1, 700))};
      for (const std::uint64_t longest : {1U, 3U, 40U, 600U})
        expect_gathered(samples, shuffled(samples, random, longest));
    }
  }
}

TEST(Gather, RandomRunsOfTwoSources) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    for (const Tensor& tensor : shapes(random)) {
      const std::vector<Sample> samples = {
          make_sample(random, tensor, pick(random, 1, 300)),
          make_sample(random, tensor, pick(random, 1, 300))};
      for (const std::uint64_t longest : {1U, 5U, 300U})
        expect_gathered(samples, shuffled(samples, random, longest));
    }
  }
}

TEST(Gather, CellsThatAreTakenTwiceOrNever) {
  Random random(7);
  for (const Tensor& tensor : shapes(random)) {
    const std::vector<Sample> samples = {make_sample(random, tensor, 50)};
    expect_gathered(samples, {{0, 3, 2}, {0, 3, 2}, {0, 4, 1}, {0, 0, 50}, {0, 49, 1}});
    expect_gathered(samples, {{0, 17, 1}});
  }
}

TEST(Gather, Nothing) {
  Random random(8);
  for (const Tensor& tensor : shapes(random)) {
    const std::vector<Sample> samples = {make_sample(random, tensor, 0)};
    expect_gathered(samples, {});
    expect_gathered(samples, {{0, 0, 0}});
  }
}

// Tensors beyond every block size: a channel alone, several channels together, rows by the million.
TEST(Gather, TensorsLargerThanBlocks) {
  Random random(9);
  for (const Tensor& tensor : {columns_of(2, 3), columns_of(4, 2), rows_of(11)}) {
    const std::vector<Sample> samples = {make_sample(random, tensor, 150001)};
    for (const std::uint64_t longest : {1U, 40U, 90000U})
      expect_gathered(samples, shuffled(samples, random, longest));
  }
}

// Zeros with a mark in every 500th row; sparse, or with all its blocks.
Sample make_marked(std::uint64_t cells, bool sparse) {
  constexpr std::uint64_t row = 4096;
  Sample sample;
  sample.cells = cells;
  sample.tensor = rows_of(row);
  sample.tensor.extent = {0, cells * row};
  sample.bytes.resize(static_cast<std::size_t>(cells * row));
  const int fd = memory_file();
  if (!sparse) write_all(fd, sample.bytes);
  EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(cells * row)), 0);
  for (std::uint64_t cell = 0; cell < cells; cell += 500) {
    const std::string mark = "cell " + std::to_string(cell);
    EXPECT_GT(::pwrite(fd, mark.data(), mark.size(), static_cast<off_t>(cell * row + 100)), 0);
  }
  sample.file = std::make_shared<FileSource>(Disk::system(), "marked", fd);
  sample.file->read_at(0, sample.bytes);
  sample.memory = memory_source("marked", sample.bytes);
  return sample;
}

// Rows that lie farther apart than can be mapped at once, rows close to each other, and runs that
// are long enough to be copied on their own.
TEST(Gather, RowsFarApart) {
  for (const bool sparse : {true, false}) {
    const std::vector<Sample> samples = {make_marked(12000, sparse)};
    Random random(10);
    Choices choices = {{0, 1000, 600}};
    for (int i = 0; i < 300; ++i) choices.push_back({0, pick(random, 0, 23) * 500, 1});
    for (int i = 0; i < 300; ++i) choices.push_back({0, 9000 + pick(random, 0, 3) * 500, 1});
    choices.push_back({0, 2000, 900});
    expect_gathered(samples, choices);
  }
}

// The comparison itself must notice one exchanged pair.
TEST(Gather, ReferenceNoticesAWrongOrder) {
  Random random(11);
  for (const Tensor& tensor : {rows_of(64), columns_of(2, 16)}) {
    const std::vector<Sample> samples = {make_sample(random, tensor, 100)};
    Choices choices = shuffled(samples, random, 1);
    const ByteVector wanted = expected(samples, choices);
    std::swap(choices[10], choices[90]);
    EXPECT_FALSE(in_memory(samples, choices) == wanted);
  }
}

}  // namespace
}  // namespace kvtool::test
