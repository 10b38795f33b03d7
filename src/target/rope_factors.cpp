#include "target/rope_factors.h"

#include <fmt/format.h>

#include "kvtool/error.h"

namespace kvtool::target {
namespace {

constexpr std::int32_t type_f32 = 0;
constexpr std::uint64_t most_factors = 1U << 16U;

const GgufTensor* tensor_of(const Gguf& model, const char* name) {
  if (const GgufTensor* tensor = model.tensor(name)) return tensor;
  return model.tensor(fmt::format("blk.0.{}", name));
}

[[noreturn]] void refuse(const Gguf& model, const GgufTensor& tensor, const char* why) {
  throw Error(ErrorKind::damaged, fmt::format("{}: {}", tensor.name, why))
      .in_file(model.source().name());
}

std::vector<float> read(const Gguf& model, const GgufTensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t n : tensor.shape) count = n > most_factors ? most_factors + 1 : count * n;
  if (tensor.type != type_f32 || count > most_factors) refuse(model, tensor, "is no list of f32");
  const std::uint64_t end = model.source().size();
  if (tensor.offset > end || end - tensor.offset < count * sizeof(float))
    refuse(model, tensor, "lies behind the end of the file");
  std::vector<float> factors(static_cast<std::size_t>(count));
  model.source().read_at(tensor.offset, std::as_writable_bytes(std::span(factors)));
  return factors;
}

}  // namespace

std::vector<float> rope_factors(const Gguf& model, std::optional<std::uint64_t> context,
                                std::uint64_t original) {
  if (const GgufTensor* tensor = tensor_of(model, "rope_freqs.weight")) return read(model, *tensor);
  const GgufTensor* longer = tensor_of(model, "rope_factors_long.weight");
  const GgufTensor* shorter = tensor_of(model, "rope_factors_short.weight");
  if (longer == nullptr && shorter == nullptr) return {};
  if (!context)
    throw Error(ErrorKind::usage,
                "the model has other rope factors for long contexts: say --ctx-size N, the context "
                "of one sequence in the program that wrote the file");
  const GgufTensor* chosen = *context > original ? longer : shorter;
  return chosen == nullptr ? std::vector<float>{} : read(model, *chosen);
}

}  // namespace kvtool::target
