#include "cli/companions.h"

#include <filesystem>

namespace kvtool::cli {

std::vector<std::string> companions_of(const Dump& dump) {
  std::vector<std::string> paths;
  if (dump.dialect.family != Family::ik_llama) return paths;
  for (const char* suffix : {".tokens.json", ".checkpoints"}) {
    const std::string path = dump.source->name() + suffix;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) paths.push_back(path);
  }
  return paths;
}

}  // namespace kvtool::cli
