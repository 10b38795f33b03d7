// What llama.cpp itself wrote for the same numbers: the first layer of a prompt, whose values do not
// depend on the cache, saved as f32 and as every other type. KVTOOL_CORPUS=FOLDER adds types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tensor/dump_tensors.h"

namespace kvtool::test {
namespace {

// Bytes that our quantizer makes otherwise than llama.cpp did, of as many rows as both tensors have.
std::size_t misses(const Dump& exact, const Tensor& numbers, const Dump& native,
                   const Tensor& tensor) {
  const ByteVector ours = encoded(tensor.type, numbers_of(exact, numbers));
  const ByteVector theirs = bytes_of(native, tensor);
  EXPECT_LE(ours.size(), theirs.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) different += ours[i] != theirs.at(i) ? 1 : 0;
  return different;
}

// Compares the first layers; false when one of the files is not there.
bool compare_first_layers(const std::string& parent, const std::string& exact_name,
                          const std::string& native_name) {
  const auto exact_path = find_dump(parent, exact_name);
  const auto native_path = find_dump(parent, native_name);
  if (!exact_path || !native_path) return false;
  const Dump exact = open_dump(exact_path->string());
  const Dump native = open_dump(native_path->string());
  const Layer& numbers = layers_of(exact)[0];
  const Layer& layer = layers_of(native)[0];
  std::cout << native_name << ": K " << info(layer.k.type).name << ", V "
            << info(layer.v.type).name << ", " << layer.k.extent.size + layer.v.extent.size
            << " bytes\n";
  EXPECT_EQ(misses(exact, numbers.k, native, layer.k), 0U) << native_name << " K";
  EXPECT_EQ(misses(exact, numbers.v, native, layer.v), 0U) << native_name << " V";
  return true;
}

TEST(Native, RandomWeightsHeadSize32) {
  std::size_t compared = 0;
  for (const char* name : {"bf16", "q8_0", "q4_0", "q4_1", "q5_0", "iq4_nl", "kq8_0-vq4_0"})
    compared += compare_first_layers("b11118", "llama-fa-f32.ggsn",
                                     fmt::format("llama-fa-{}.ggsn", name));
  EXPECT_GE(compared, 6U);
}

// V transposed.
TEST(Native, RandomWeightsWithoutFlashAttention) {
  for (const char* name : {"f16", "bf16"})
    compare_first_layers("b11118", "llama-nofa-f32.ggsn", fmt::format("llama-nofa-{}.ggsn", name));
}

// A trained model, many more values: 256 cells of f32 against the first ones of longer files.
TEST(Native, TrainedWeights) {
  for (const char* name : {"chat-256.f16.ggsq", "slot-bf16-512.ggsq", "slot-q8_0-plain-1024.ggsq",
                           "slot-q4_0-plain-1024.ggsq"})
    compare_first_layers("trained", "slot-f32-256.ggsq", name);
}

}  // namespace
}  // namespace kvtool::test
