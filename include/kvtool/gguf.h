// A model file (GGUF 2 and 3): its metadata and the table of its tensors, read through a Source.
//
// Opening walks once over keys and table and keeps only where each value lies; values are read
// when they are asked for. No count of the file is trusted: what is allocated never exceeds a
// small multiple of the bytes that are really there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/element_type.h"
#include "kvtool/source.h"

namespace kvtool {

// The numbers are those of the format.
enum class GgufType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

// Where the value of a key lies, and what it is.
struct GgufValue {
  GgufType type = GgufType::u32;
  GgufType element = GgufType::u32;  // arrays: type of the elements; else the same as `type`
  std::uint64_t count = 1;           // arrays: number of elements; else 1
  Extent extent;                     // the value's bytes; arrays: the elements', without their head
};

// A weight of the model, as the table describes it. Its data need not be in the file: one whose
// download was cut after the table still opens.
struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> shape;    // elements, the fastest dimension first; at most four
  std::int32_t type = 0;               // ggml's type id
  std::uint64_t offset = 0;            // first byte of its data in the file
  std::optional<std::uint64_t> bytes;  // size of its data; absent for types not known here
};

// Many strings in one piece of memory: a vocabulary of 256k tokens is two allocations.
class GgufStrings {
 public:
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  // String `i`; any bytes.
  [[nodiscard]] std::string_view operator[](std::size_t i) const;
  // Both are used by the reader.
  void reserve(std::size_t strings, std::size_t characters);
  void append(std::string_view text);

 private:
  std::string characters_;
  std::vector<std::size_t> ends_;
};

class Gguf {
 public:
  // Version of the format: 2 or 3.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] const Source& source() const { return *source_; }
  // general.architecture, e.g. "llama"; empty if the file does not say.
  [[nodiscard]] std::string architecture() const;
  // All keys in alphabetical order, with the places of their values.
  [[nodiscard]] const std::map<std::string, GgufValue, std::less<>>& values() const {
    return values_;
  }
  // In the order of the file.
  [[nodiscard]] const std::vector<GgufTensor>& tensors() const { return tensors_; }
  // The tensor of that name, or nullptr.
  [[nodiscard]] const GgufTensor* tensor(std::string_view name) const;

  // The getters give nothing when the key is absent, of another kind, or too large for the result.
  // They read from the source, so they can throw Error(io); bad content throws Error(damaged).
  // Any integer type that is not negative.
  [[nodiscard]] std::optional<std::uint64_t> u64(std::string_view key) const;
  // Any integer type.
  [[nodiscard]] std::optional<std::int64_t> i64(std::string_view key) const;
  // f32 or f64.
  [[nodiscard]] std::optional<double> f64(std::string_view key) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> string(std::string_view key) const;
  [[nodiscard]] std::optional<GgufStrings> strings(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<float>> f32s(std::string_view key) const;
  // Arrays of i32, or of u32 whose values all fit.
  [[nodiscard]] std::optional<std::vector<std::int32_t>> i32s(std::string_view key) const;

 private:
  friend Gguf open_gguf(std::shared_ptr<const Source> source);

  std::shared_ptr<const Source> source_;
  std::uint32_t version_ = 0;
  std::map<std::string, GgufValue, std::less<>> values_;
  std::vector<GgufTensor> tensors_;
};

// Reads keys and tensor table. Throws Error(damaged) with offset and field, Error(unsupported) for
// version 1, later versions and big-endian files, Error(io).
[[nodiscard]] Gguf open_gguf(std::shared_ptr<const Source> source);

}  // namespace kvtool
