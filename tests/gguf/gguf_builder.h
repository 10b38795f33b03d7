// Builds model files field by field, sound ones and others.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvtool/gguf.h"
#include "support/bytes.h"

namespace kvtool::test {

inline Bytes& text64(Bytes& out, std::string_view characters) {
  return out.u64(characters.size()).text(characters);
}

class GgufBuilder {
 public:
  // Begins a key; what is appended to the result is its value.
  Bytes& key(std::string_view name, GgufType type) {
    ++keys_;
    return text64(body_, name).u32(static_cast<std::uint32_t>(type));
  }
  Bytes& array(std::string_view name, GgufType element, std::uint64_t count) {
    return key(name, GgufType::array).u32(static_cast<std::uint32_t>(element)).u64(count);
  }
  GgufBuilder& string(std::string_view name, std::string_view value) {
    text64(key(name, GgufType::string), value);
    return *this;
  }
  GgufBuilder& strings(std::string_view name, const std::vector<std::string>& values) {
    Bytes& out = array(name, GgufType::string, values.size());
    for (const std::string& value : values) text64(out, value);
    return *this;
  }
  GgufBuilder& i32s(std::string_view name, const std::vector<std::int32_t>& values) {
    Bytes& out = array(name, GgufType::i32, values.size());
    for (const std::int32_t value : values) out.i32(value);
    return *this;
  }
  // Tensors come after all keys.
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& shape,
                      std::int32_t type, std::uint64_t offset) {
    ++tensors_;
    text64(body_, name).u32(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t dimension : shape) body_.u64(dimension);
    body_.i32(type).u64(offset);
    return *this;
  }
  [[nodiscard]] ByteVector bytes(std::uint32_t version = 3) const {
    Bytes out;
    out.u32(0x46554747).u32(version).u64(tensors_).u64(keys_).append(body_.get());
    return out.get();
  }

 private:
  std::uint64_t keys_ = 0;
  std::uint64_t tensors_ = 0;
  Bytes body_;
};

inline Gguf open_bytes(ByteVector bytes) {
  return open_gguf(memory_source("made.gguf", std::move(bytes)));
}

}  // namespace kvtool::test
