#include "kvtool/element_type.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace kvtool {
namespace {

// Bits that one element of a block costs, with scales and minima: known figures of ggml's types.
TEST(ElementType, BlocksCostTheKnownBitsPerElement) {
  const std::array<std::pair<const char*, double>, 12> known = {{{"f32", 32},
                                                                 {"f16", 16},
                                                                 {"bf16", 16},
                                                                 {"q8_0", 8.5},
                                                                 {"q5_1", 6},
                                                                 {"q5_0", 5.5},
                                                                 {"q4_1", 5},
                                                                 {"q4_0", 4.5},
                                                                 {"iq4_nl", 4.5},
                                                                 {"q6_K", 6.5625},
                                                                 {"q4_K", 4.5},
                                                                 {"mxfp4", 4.25}}};
  for (const auto& [name, bits] : known) {
    const ElementTypeInfo* type = find_element_type(name);
    ASSERT_NE(type, nullptr) << name;
    EXPECT_EQ(8.0 * type->block_bytes / type->block_elements, bits) << name;
  }
}

TEST(ElementType, IsFoundByIdAndByName) {
  for (const ElementTypeInfo& type : element_types()) {
    EXPECT_EQ(find_element_type(static_cast<std::int32_t>(type.type)), &type);
    EXPECT_EQ(find_element_type(type.name), &type);
    EXPECT_EQ(&info(type.type), &type);
  }
}

TEST(ElementType, WhatGgmlDoesNotHaveIsNotFound) {
  for (const std::int32_t id : {-1, 4, 5, 31, 36, 132, 134, 150, 152, 1 << 30}) {
    EXPECT_EQ(find_element_type(id), nullptr) << id;
  }
  EXPECT_EQ(find_element_type("q8_kv"), nullptr);
  EXPECT_EQ(find_element_type(""), nullptr);
}

TEST(ElementType, TypesOfTheForkAreMarked) {
  for (const ElementTypeInfo& type : element_types())
    EXPECT_EQ(type.fork_only, type.name == std::string("q6_0") || type.name == std::string("q8_KV"))
        << type.name;
}

}  // namespace
}  // namespace kvtool
