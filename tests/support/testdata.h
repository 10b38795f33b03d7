// The genuine files under testdata/, and others of the same kind.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "kvtool/source.h"
#include "support/bytes.h"

namespace kvtool::test {

// A path below testdata/.
inline std::filesystem::path testdata(const std::string& path = {}) {
  return std::filesystem::path(KVTOOL_TESTDATA) / path;
}

// The path without .zst, which a few large files have.
inline std::filesystem::path without_zst(const std::filesystem::path& path) {
  return path.extension() == ".zst" ? path.parent_path() / path.stem() : path;
}

inline bool is_dump(const std::filesystem::path& path) {
  const std::string extension = without_zst(path).extension().string();
  return extension == ".ggsn" || extension == ".ggsq" || extension == ".raw" ||
         extension == ".rawseq";
}

// All dumps below a folder, in an order that does not depend on the file system.
inline std::vector<std::filesystem::path> dumps_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> dumps;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_dump(entry.path())) dumps.push_back(entry.path());
  std::sort(dumps.begin(), dumps.end());
  return dumps;
}

// The bytes of a file, unpacked.
inline ByteVector read_file(const std::filesystem::path& path) {
  if (path.extension() == ".zst") {
    const auto source = open_source(path.string());
    ByteVector bytes(static_cast<std::size_t>(source->size()));
    source->read_at(0, bytes);
    return bytes;
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return Bytes().text(text).get();
}

}  // namespace kvtool::test
