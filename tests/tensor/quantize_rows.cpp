// quantize_rows TYPE: 32-bit floats from standard input, blocks of TYPE to standard output. For
// tests that compare them with another program's (tests/loader/quantize-test.mjs).
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "kvtool/codec.h"

namespace {

std::vector<float> floats_of(const std::string& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

void run(const char* name) {
  const kvtool::ElementTypeInfo* type = kvtool::find_element_type(std::string_view(name));
  if (type == nullptr) throw std::runtime_error("no such type");
  const auto floats = floats_of(std::string(std::istreambuf_iterator<char>(std::cin), {}));
  std::vector<std::byte> bytes(kvtool::row_bytes(type->type, floats.size()));
  kvtool::quantize(type->type, floats, bytes);
  std::cout.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    run(argv[1]);
    return std::cout.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
