#include "target/model_keys.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::target {
namespace {

constexpr std::uint64_t most_layers = 1U << 16U;

}  // namespace

bool ModelKeys::has(const char* key) const { return model_.values().count(full(key)) > 0; }

bool ModelKeys::is_list(const char* key) const {
  const auto found = model_.values().find(full(key));
  return found != model_.values().end() && found->second.type == GgufType::array;
}

std::uint64_t ModelKeys::value(const char* key, std::uint64_t otherwise) const {
  return model_.u64(full(key)).value_or(otherwise);
}

std::uint64_t ModelKeys::value(const char* key) const {
  if (const auto found = model_.u64(full(key))) return *found;
  throw Error(ErrorKind::damaged, fmt::format("the model has no number {}", full(key)))
      .in_file(model_.source().name());
}

std::vector<std::uint64_t> ModelKeys::per_layer(const char* key) const {
  const auto list = model_.i32s(full(key));
  if (!list) return std::vector<std::uint64_t>(layers(), value(key));
  if (list->size() != layers())
    throw Error(ErrorKind::damaged,
                fmt::format("{} has {} values for {} layers", full(key), list->size(), layers()))
        .in_file(model_.source().name());
  std::vector<std::uint64_t> values;
  for (const std::int32_t item : *list)
    values.push_back(item < 0 ? 0 : static_cast<std::uint64_t>(item));
  return values;
}

std::uint32_t ModelKeys::layers() const {
  const std::uint64_t n = value("block_count");
  if (n == 0 || n > most_layers) refuse(fmt::format("has {} layers", n));
  return static_cast<std::uint32_t>(n);
}

std::uint32_t ModelKeys::head(const char* key) const {
  if (has(key)) return static_cast<std::uint32_t>(value(key));
  const std::uint64_t heads = per_layer("attention.head_count").front();
  return heads == 0 ? 0 : static_cast<std::uint32_t>(value("embedding_length") / heads);
}

std::optional<std::uint64_t> ModelKeys::vocabulary() const {
  const auto tokens = model_.values().find("tokenizer.ggml.tokens");
  if (tokens != model_.values().end()) return tokens->second.count;
  return model_.u64(full("vocab_size"));
}

void ModelKeys::refuse(const std::string& why) const {
  throw Error(
      ErrorKind::unsupported,
      fmt::format("this {} model {}: how its contexts lie in memory is not known here; pass "
                  "a dump that the target saved instead (--like)",
                  arch_.empty() ? "nameless" : arch_, why))
      .in_file(model_.source().name());
}

}  // namespace kvtool::target
