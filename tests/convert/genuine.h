// The genuine files that conversions are tried on, with what their sidecars know beyond the bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/converted.h"

namespace kvtool::test {

struct Genuine {
  std::filesystem::path path;
  DumpPointer dump;
  std::string model;                    // file name of the model
  std::optional<SequenceId> sequence;   // of files of one sequence
  bool rotation_disabled = false;       // written with LLAMA_ATTN_ROT_DISABLE=1
  StatedRotation rotation = StatedRotation::unknown;  // of its quantized rows
  std::string loader;                   // its writer, where the bytes fit several eras
  std::uint32_t head_size = 0;          // where the sidecar says it
  bool partial = false;                 // a state without its main cache
  [[nodiscard]] std::string name() const {
    return path.parent_path().filename().string() + "/" + path.filename().string();
  }
};

// All dumps below a folder of which a model is known and that kvtool reads, in order of their paths.
[[nodiscard]] std::vector<Genuine> genuine_dumps(const std::filesystem::path& folder);

// The shape that the model gives to contexts of `era`; nothing where the model file is not at hand
// or of an architecture that only dumps show.
[[nodiscard]] std::optional<ModelShape> shape_from_model(const std::string& model, const Era& era);

// The settings of the program that wrote `reference`, as its file, its model and its sidecar tell.
[[nodiscard]] Target target_of(const Genuine& reference);

}  // namespace kvtool::test
