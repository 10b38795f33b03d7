// replay TARGET FOLDER MUTATIONS: what every test run does with a fuzz target. Tries the seeds, every
// file of FOLDER (what was once found), and as many damaged copies of each; the same ones every time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "kvtool/error.h"

namespace {

using kvtool::test::ByteVector;

std::vector<ByteVector> files_of(const std::filesystem::path& folder) {
  std::vector<ByteVector> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(content));
    files.emplace_back(bytes.begin(), bytes.end());
  }
  return files;
}

// One to four changes: a byte, a whole word of an awkward value, a cut, a stretch twice.
class Damager {
 public:
  ByteVector damaged(ByteVector bytes) {
    for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) change(bytes);
    return bytes;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  void change(ByteVector& bytes) {
    const std::size_t at = below(bytes.size());
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(6)) {
      case 0: bytes.resize(at); break;
      case 1: repeat(bytes, at); break;
      case 2: put_word(bytes, at); break;
      case 3: *place ^= std::byte{1} << below(8); break;
      default: *place = static_cast<std::byte>(below(256));
    }
  }

  static void repeat(ByteVector& bytes, std::size_t at) {
    const std::size_t size = std::min<std::size_t>(bytes.size() - at, 16);
    const ByteVector stretch(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), stretch.begin(), stretch.end());
  }

  void put_word(ByteVector& bytes, std::size_t at) {
    static constexpr std::uint32_t words[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x10000};
    if (at + 4 <= bytes.size()) kvtool::test::poke(bytes, at, words[below(std::size(words))]);
  }

  std::mt19937 random_{20261129};
};

struct Counts {
  unsigned long tried = 0;
  unsigned long refused = 0;
};

void try_one(const ByteVector& input, Counts& counts) {
  ++counts.tried;
  try {
    kvtool::fuzz::try_input(input);
  } catch (const kvtool::Error&) {
    ++counts.refused;
  } catch (const std::exception& finding) {
    std::ofstream("finding", std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    std::fprintf(stderr, "%s (input %lu, written to ./finding)\n", finding.what(), counts.tried);
    std::exit(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fputs("usage: replay TARGET FOLDER MUTATIONS\n", stderr), 2;
  auto inputs = kvtool::fuzz::seeds_of(arguments[1]);
  for (ByteVector& file : files_of(arguments[2])) inputs.push_back(std::move(file));
  Counts counts;
  Damager damager;
  for (const ByteVector& input : inputs) try_one(input, counts);
  const unsigned long mutations = std::strtoul(arguments[3], nullptr, 10);
  for (unsigned long i = 0; i < mutations; ++i)
    try_one(damager.damaged(inputs[i % inputs.size()]), counts);
  std::printf("%lu inputs, %lu of them refused by an error\n", counts.tried, counts.refused);
  return 0;
}
