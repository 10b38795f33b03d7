// fuzz-seeds TARGET FOLDER: writes the seeds of a target for libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "fuzz/seeds.h"

int main(int count, char** arguments) {
  if (count != 3) return std::fputs("usage: fuzz-seeds TARGET FOLDER\n", stderr), 2;
  std::filesystem::create_directories(arguments[2]);
  int number = 0;
  for (const auto& seed : kvtool::fuzz::seeds_of(arguments[1])) {
    const auto path = std::filesystem::path(arguments[2]) / ("seed-" + std::to_string(number++));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
  return 0;
}
