#include "kvtool/gguf.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "gguf/scanner.h"
#include "kvtool/checked.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

using gguf::fail;
using gguf::Scanner;

constexpr std::uint32_t magic = 0x46554747;  // "GGUF"
constexpr std::uint64_t least_key_bytes = 8 + 4 + 1;
constexpr std::uint64_t least_tensor_bytes = 8 + 4 + 4 + 8;
constexpr std::uint32_t most_dimensions = 4;  // ggml has no more
constexpr const char* alignment_key = "general.alignment";
constexpr std::uint64_t usual_alignment = 32;

[[noreturn]] void unsupported(std::uint64_t offset, const char* field, const std::string& what) {
  throw Error(ErrorKind::unsupported, Place{offset, field}, what);
}

std::uint32_t take_version(Scanner& in) {
  if (in.word<std::uint32_t>("magic") != magic) fail(0, "magic", "this is not a model (GGUF)");
  const std::uint64_t at = in.offset();
  const auto version = in.word<std::uint32_t>("version");
  if (version == 2 || version == 3) return version;
  if ((version & 0xffffU) == 0) unsupported(at, "version", "a big-endian model");
  unsupported(at, "version", fmt::format("{} is not read here (2 and 3 are)", version));
}

void take_value(Scanner& in, std::map<std::string, GgufValue, std::less<>>& values) {
  const std::uint64_t at = in.offset();
  std::string key = in.text("key");
  const GgufType type = in.type("value_type");
  const GgufValue value = gguf::pass_value(in, type);
  if (!values.emplace(std::move(key), value).second) fail(at, "key", "appears twice");
}

// Bytes of a tensor's data: whole blocks along the fastest dimension.
std::optional<std::uint64_t> data_size(const GgufTensor& tensor, std::uint64_t at) {
  const ElementTypeInfo* type = find_element_type(tensor.type);
  if (type == nullptr) return std::nullopt;
  const std::uint64_t row = tensor.shape.empty() ? 1 : tensor.shape.front();
  if (row % type->block_elements != 0)
    fail(at, "dimension", fmt::format("{} elements are no whole blocks of {}", row, type->name));
  std::uint64_t bytes = checked_multiply(row / type->block_elements, type->block_bytes);
  for (std::size_t d = 1; d < tensor.shape.size(); ++d)
    bytes = checked_multiply(bytes, tensor.shape[d]);
  return bytes;
}

GgufTensor take_tensor(Scanner& in) {
  GgufTensor tensor;
  const std::uint64_t at = in.offset();
  tensor.name = in.text("tensor_name");
  const auto dimensions = in.word<std::uint32_t>("dimension_count");
  if (dimensions > most_dimensions)
    fail(at, "dimension_count", fmt::format("{}, at most {}", dimensions, most_dimensions));
  for (std::uint32_t d = 0; d < dimensions; ++d)
    tensor.shape.push_back(in.word<std::uint64_t>("dimension"));
  tensor.type = in.word<std::int32_t>("tensor_type");
  tensor.offset = in.word<std::uint64_t>("tensor_offset");
  tensor.bytes = data_size(tensor, at);
  return tensor;
}

std::uint64_t alignment_of(const Gguf& model) {
  const std::uint64_t alignment = model.u64(alignment_key).value_or(usual_alignment);
  if (!std::has_single_bit(alignment))
    fail(model.values().find(alignment_key)->second.extent.offset, alignment_key,
         fmt::format("{} is no power of two", alignment));
  return alignment;
}

// Tensor offsets count from the end of the table, rounded up.
void place_tensors(std::vector<GgufTensor>& tensors, std::uint64_t table_end,
                   std::uint64_t alignment) {
  const std::uint64_t begin = checked_add(table_end, alignment - 1) & ~(alignment - 1);
  for (GgufTensor& tensor : tensors) {
    tensor.offset = checked_add(begin, tensor.offset);
    if (tensor.bytes) static_cast<void>(checked_add(tensor.offset, *tensor.bytes));
  }
}

}  // namespace

std::string_view GgufStrings::operator[](std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(characters_).substr(begin, ends_[i] - begin);
}

void GgufStrings::reserve(std::size_t strings, std::size_t characters) {
  ends_.reserve(strings);
  characters_.reserve(characters);
}

void GgufStrings::append(std::string_view text) {
  characters_ += text;
  ends_.push_back(characters_.size());
}

std::string Gguf::architecture() const { return string("general.architecture").value_or(""); }

const GgufTensor* Gguf::tensor(std::string_view name) const {
  for (const GgufTensor& tensor : tensors_)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

Gguf open_gguf(std::shared_ptr<const Source> source) {
  Gguf model;
  model.source_ = std::move(source);
  format::Window window(*model.source_);
  Scanner in(format::Cursor(window, {0, window.size()}));
  try {
    model.version_ = take_version(in);
    const std::uint64_t tensors = in.count("tensor_count", least_tensor_bytes);
    const std::uint64_t keys = in.count("key_count", least_key_bytes);
    for (std::uint64_t k = 0; k < keys; ++k) take_value(in, model.values_);
    for (std::uint64_t t = 0; t < tensors; ++t) model.tensors_.push_back(take_tensor(in));
    place_tensors(model.tensors_, in.offset(), alignment_of(model));
  } catch (const Error& error) {
    throw error.in_file(model.source_->name());
  }
  return model;
}

}  // namespace kvtool
