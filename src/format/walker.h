// Presents a const Dump field by field, in file order, to a Visitor: the other side of Reader.
//
// The same descriptions that read a layout drive it, so sizes, labels and output bytes cannot
// differ from what was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/part.h"
#include "format/scope.h"
#include "kvtool/dump.h"

namespace kvtool::format {

// What wants to know about fields. `path` gives the innermost scope while a call lasts.
class Visitor {
 public:
  virtual ~Visitor() = default;
  // A field whose bytes follow from the dump's facts.
  virtual void field(const Scope* path, const char* name, std::span<const std::byte> bytes) = 0;
  // Bytes that are carried from the first source as they are.
  virtual void opaque(const Scope* path, const char* name, const Extent& extent) = 0;
  // The payload of layers[layer].*part of a stream.
  virtual void tensor(const Scope* path, const char* name, const Stream& stream, std::size_t layer,
                      TensorOfLayer part) = 0;
};

class Walker {
 public:
  static constexpr bool reads = false;

  explicit Walker(Visitor& visitor) : visitor_(visitor) {}

  [[nodiscard]] Scope scope(std::string_view name, std::uint64_t index = Scope::unnumbered) {
    return {scope_, name, index};
  }

  void u32(const char* field, std::uint32_t value) { word(field, value); }
  void i32(const char* field, std::int32_t value) { word(field, value); }
  void u64(const char* field, std::uint64_t value) { word(field, value); }
  void constant(const char* field, std::uint32_t value) { word(field, value); }
  void flag(const char* field, std::uint32_t value) { word(field, value); }
  // Throws Error(refused) when more than a u32 can count.
  std::uint32_t count(const char* field, std::uint64_t current, std::uint64_t least_bytes,
                      std::uint64_t most = 0xffffffff);
  std::uint32_t count_near_one(const char* field, std::uint64_t current, std::uint64_t least_bytes,
                               std::uint32_t least, std::uint32_t most);
  void position(const char* field, Position value) { word(field, value); }
  void sequence_id(const char* field, SequenceId value) { word(field, value); }
  void type(const char* field, ElementType type) { word(field, static_cast<std::int32_t>(type)); }
  void type_or_none(const char* field, const std::optional<ElementType>& type) {
    word(field, type ? static_cast<std::int32_t>(*type) : -1);
  }
  void row_size(const char* field, std::uint64_t bytes, ElementType) { word(field, bytes); }
  void rotation(const char* field, std::uint32_t width) { word(field, width); }
  void text(const char* field, const std::string& value);
  void words(const char* count_field, const char* field, const std::vector<std::int32_t>& values);
  void floats(const char* count_field, const char* field, const Extent& extent);
  void opaque(const char* field, const Extent& extent, std::uint64_t size);
  void bytes(const char* field, std::span<const std::byte> value) {
    visitor_.field(scope_, field, value);
  }
  void tensor(const char* field, const Stream& stream, const Layer& layer, TensorOfLayer part);
  void begin_stream(const Stream&) {}

 private:
  template <class T>
  void word(const char* field, T value) {
    visitor_.field(scope_, field, std::as_bytes(std::span(&value, 1)));
  }

  Visitor& visitor_;
  const Scope* scope_ = nullptr;
};

// Adds up bytes.
class SizeVisitor final : public Visitor {
 public:
  [[nodiscard]] std::uint64_t size() const { return size_; }
  void field(const Scope*, const char*, std::span<const std::byte> bytes) override;
  void opaque(const Scope*, const char*, const Extent& extent) override;
  void tensor(const Scope*, const char*, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override;

 private:
  std::uint64_t size_ = 0;
};

}  // namespace kvtool::format
