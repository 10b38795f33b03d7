// Tensors of genuine dumps, as bytes and as numbers.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/codec.h"
#include "kvtool/open.h"
#include "support/testdata.h"

namespace kvtool::test {

inline ByteVector bytes_of(const Dump& dump, const Tensor& tensor) {
  ByteVector bytes(tensor.extent.size);
  dump.source->read_at(tensor.extent.offset, bytes);
  return bytes;
}

inline std::vector<float> decoded(ElementType type, const ByteVector& bytes) {
  const ElementTypeInfo& t = info(type);
  std::vector<float> floats(bytes.size() / t.block_bytes * t.block_elements);
  dequantize(type, bytes, floats);
  return floats;
}

inline ByteVector encoded(ElementType type, const std::vector<float>& floats) {
  ByteVector bytes(row_bytes(type, floats.size()));
  quantize(type, floats, bytes);
  return bytes;
}

inline std::vector<float> numbers_of(const Dump& dump, const Tensor& tensor) {
  return decoded(tensor.type, bytes_of(dump, tensor));
}

// The layers of the first stream of the first memory.
inline const std::vector<Layer>& layers_of(const Dump& dump) {
  return dump.state.memories.at(0).streams.at(0).layers;
}

// Folders below which dumps lie: testdata/, and the one that KVTOOL_CORPUS names.
inline std::vector<std::filesystem::path> dump_folders() {
  std::vector<std::filesystem::path> folders{testdata()};
  if (const char* more = std::getenv("KVTOOL_CORPUS")) folders.emplace_back(more);
  return folders;
}

// The file of that name, wherever it lies.
inline std::optional<std::filesystem::path> find_dump(const std::string& parent,
                                                      const std::string& name) {
  for (const auto& folder : dump_folders())
    for (const auto& path : dumps_below(folder))
      if (path.filename() == name && path.parent_path().filename() == parent) return path;
  return std::nullopt;
}

}  // namespace kvtool::test
