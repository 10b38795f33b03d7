// fill-values DUMP: gives the tensors of a made dump (make-dump --sparse) numbers that are as hard to
// compress as those of a real cache, as far as that is known.
//
// The model: every channel has a scale of its own (log-normal), one in 64 is ten times as large, and
// values are bell-shaped around a mean of the channel. K channels are then turned by rotary position
// embedding, pairs (i, i + half of the head) by pos * base^(-2i/head), so that means become waves. V
// has means near zero. Quantized types are quantized from these numbers. Values come from a counter
// that is mixed with the seed, so the same command makes the same file.
#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "kvtool/codec.h"
#include "kvtool/open.h"

namespace {

using namespace kvtool;

constexpr float rope_base = 10000.0F;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  // Bell-shaped, mean 0, variance 1.
  float bell() {
    const std::uint64_t dice = next();
    float sum = 0;
    for (unsigned die = 0; die < 4; ++die)
      sum += static_cast<float>(dice >> 16U * die & 0xffffU) / 65536.0F - 0.5F;
    return sum * std::numbers::sqrt3_v<float>;
  }
  bool one_in(std::uint64_t n) { return next() % n == 0; }

 private:
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return x ^ x >> 31U;
  }
  std::uint64_t state_;
};

// What is alike in all cells of a tensor.
struct Channels {
  std::vector<float> scale;
  std::vector<float> mean;
};

Channels channels_of(std::size_t width, bool is_key, Random& random) {
  Channels channels;
  for (std::size_t c = 0; c < width; ++c) {
    const float outlier = random.one_in(64) ? 10.0F : 1.0F;
    channels.scale.push_back(outlier * std::exp(0.6F * random.bell()));
    channels.mean.push_back(is_key ? channels.scale.back() * random.bell() : 0.0F);
  }
  return channels;
}

void turn(std::span<float> head, float position) {
  const std::size_t half = head.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const float angle =
        position * std::pow(rope_base, -static_cast<float>(i) / static_cast<float>(half));
    const float c = std::cos(angle);
    const float s = std::sin(angle);
    const float a = head[i];
    const float b = head[i + half];
    head[i] = a * c - b * s;
    head[i + half] = a * s + b * c;
  }
}

class File {
 public:
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)) {
    if (fd_ < 0) throw std::runtime_error("cannot write " + path);
  }
  ~File() { ::close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void put(std::uint64_t offset, std::span<const std::byte> bytes) const {
    if (::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) !=
        static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot write");
  }

 private:
  int fd_;
};

void fill(const Stream& stream, const Tensor& tensor, bool is_key, std::size_t head, Random random,
          const File& file) {
  if (tensor.orientation != Orientation::rows)
    throw std::runtime_error("only V in rows is filled");
  const auto width = static_cast<std::size_t>(tensor.cell_elements());
  const Channels channels = channels_of(width, is_key, random);
  std::vector<float> row(width);
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.row_bytes));
  for (std::size_t cell = 0; cell < stream.cells.size(); ++cell) {
    for (std::size_t c = 0; c < width; ++c)
      row[c] = channels.mean[c] + channels.scale[c] * random.bell();
    for (std::size_t h = 0; is_key && h < width; h += head)
      turn(std::span(row).subspan(h, head), static_cast<float>(stream.cells.position(cell)));
    quantize(tensor.type, row, bytes);
    file.put(tensor.extent.offset + cell * tensor.row_bytes, bytes);
  }
}

void fill_dump(const std::string& path, std::size_t head, std::uint64_t seed) {
  const Dump dump = open_dump(path);
  const File file(path);
  std::uint64_t number = seed << 20U;
  for_each_stream(dump, [&](const Stream& stream) {
    for (const Layer& layer : stream.layers) {
      fill(stream, layer.k, true, head, Random(++number), file);
      fill(stream, layer.v, false, head, Random(++number), file);
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fills the tensors of a made dump with numbers like those of a real cache.",
               "fill-values");
  std::string path;
  std::size_t head = 128;
  std::uint64_t seed = 1;
  app.add_option("dump", path, "made by make-dump --sparse")->required();
  app.add_option("--head", head, "size of a head, for the rotation of K")->capture_default_str();
  app.add_option("--seed", seed, "another one gives other numbers")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    fill_dump(path, head, seed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fill-values: {}\n", error.what());
    return 1;
  }
  return 0;
}
