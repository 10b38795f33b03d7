// The few keys of a model file from which the shape of its caches follows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/gguf.h"

namespace kvtool::target {

// Reads keys below the name of the architecture, e.g. "llama.block_count".
class ModelKeys {
 public:
  explicit ModelKeys(const Gguf& model) : model_(model), arch_(model.architecture()) {}

  [[nodiscard]] const std::string& arch() const { return arch_; }
  [[nodiscard]] bool has(const char* key) const;
  // True when the key is there with an array.
  [[nodiscard]] bool is_list(const char* key) const;
  // The value, or `otherwise` when it is absent.
  [[nodiscard]] std::uint64_t value(const char* key, std::uint64_t otherwise) const;
  // The value. Throws Error(damaged) naming the key when it is absent.
  [[nodiscard]] std::uint64_t value(const char* key) const;
  // One value a layer: an array of that many, or one number for all.
  // Throws Error(damaged) when it is absent or of another length.
  [[nodiscard]] std::vector<std::uint64_t> per_layer(const char* key) const;

  [[nodiscard]] std::uint32_t layers() const;
  // Elements of one head of K and of V.
  [[nodiscard]] std::uint32_t head_k() const { return head("attention.key_length"); }
  [[nodiscard]] std::uint32_t head_v() const { return head("attention.value_length"); }
  // Length of the vocabulary; nothing if the file does not say.
  [[nodiscard]] std::optional<std::uint64_t> vocabulary() const;

  // Throws Error(unsupported) saying why and that --like helps.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  [[nodiscard]] std::string full(const char* key) const { return arch_ + "." + key; }
  [[nodiscard]] std::uint32_t head(const char* key) const;

  const Gguf& model_;
  std::string arch_;
};

}  // namespace kvtool::target
