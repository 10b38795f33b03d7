// copy-memory SIZE: prints the processor seconds that memcpy takes for so many bytes, from a block to another
// that are both far larger than the caches. What the times of bench/diff are divided by.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

constexpr std::size_t block_bytes = 256U << 20U;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of_copying(std::uint64_t bytes) {
  const std::vector<char> from(block_bytes, 1);
  std::vector<char> to(block_bytes, 2);
  char seen = 0;
  const double begin = processor_seconds();
  for (std::uint64_t done = 0; done < bytes; done += block_bytes) {
    std::memcpy(to.data(), from.data(), std::min<std::uint64_t>(block_bytes, bytes - done));
    seen = static_cast<char>(seen + to[static_cast<std::size_t>(done % 4093)]);
  }
  const double seconds = processor_seconds() - begin;
  return seen == 0 && bytes == block_bytes ? 0 : seconds;  // so that no copy is left out
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t size = 0;
  CLI::App app("Seconds of a memcpy.");
  app.add_option("size", size, "2GiB, 512MiB")->required()->transform(CLI::AsSizeValue(false));
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:.6f}\n", seconds_of_copying(size));
}
