#include "kvtool/map.h"

#include <fmt/format.h>

#include <string_view>

#include "format/walk.h"
#include "kvtool/error.h"

namespace kvtool {
namespace {

using format::Scope;
using format::TensorOfLayer;

// Lays the fields of a dump end to end under the labels that a policy gives them.
class Mapper final : public format::Visitor {
 public:
  using Label = std::string (*)(const std::string& path);

  explicit Mapper(Label label) : label_(label) {}

  void field(const Scope* path, const char* name, std::span<const std::byte> bytes) override {
    add(path, name, bytes.size());
  }
  void opaque(const Scope* path, const char* name, const Extent& extent) override {
    expect_at(extent.offset);
    add(path, name, extent.size);
  }
  void tensor(const Scope* path, const char* name, const Stream& stream, std::size_t layer,
              TensorOfLayer part) override {
    const Tensor& tensor = stream.layers[layer].*part;
    expect_at(tensor.extent.offset);
    add(path, name, tensor.extent.size);
  }

  // `dropped`: trailing bytes that the caller chose to leave out are in the file all the same.
  std::vector<MapRange> finish(std::uint64_t size, bool dropped) {
    if (dropped && at_ < size) add(nullptr, "tail.dropped", size - at_);
    expect_at(size);
    return std::move(ranges_);
  }

 private:
  void add(const Scope* path, const char* name, std::uint64_t size) {
    if (size == 0) return;
    const std::string label = label_(Scope::path(path) + name);
    if (!ranges_.empty() && ranges_.back().label == label)
      ranges_.back().size += size;
    else
      ranges_.push_back({at_, size, label});
    at_ += size;
  }

  // The walk and the reading must agree on where everything lies.
  void expect_at(std::uint64_t offset) const {
    if (at_ != offset)
      throw std::logic_error(fmt::format("map: at {} where the file was read at {}", at_, offset));
  }

  Label label_;
  std::uint64_t at_ = 0;
  std::vector<MapRange> ranges_;
};

std::string whole_path(const std::string& path) { return path; }

// All fields of the cells of a stream under one label.
std::string cells_together(const std::string& path) {
  const std::size_t cell = path.find(".cell[");
  return cell == std::string::npos ? path : path.substr(0, cell) + ".cells";
}

// The field's own name, behind the last dot.
std::string_view field_of(std::string_view path) {
  return path.substr(path.rfind('.') + 1);
}

// The kind of thing a field of a stream is. The headers of K and V rows count as K and V.
std::string_view piece_of(std::string_view path) {
  const std::string_view field = field_of(path);
  if (path.find(".cell[") != std::string_view::npos || field == "cell_count") return "cells";
  if (field == "k_record" || field == "v_record" || field == "unused") return "pool";
  if (path.find(".layer[") == std::string_view::npos) return "headers";
  return field.rfind("ple", 0) == 0 ? "r" : field.substr(0, 1);
}

// "memory[0].stream[1]" of a path inside it; recurrent memories have no streams.
std::string_view owner_of(std::string_view path) {
  const std::size_t stream = path.find(".stream[");
  const std::size_t from = stream == std::string_view::npos ? 0 : stream;
  return path.substr(0, path.find(']', from) + 1);
}

// Large pieces: the file's header, tokens, prelude, each stream by piece, each part of the tail.
std::string section(const std::string& path) {
  if (path == "magic" || path == "version" || path == "source_sequence" ||
      path.rfind("header.", 0) == 0)
    return "header";
  if (path == "n_token" || path == "tokens") return "tokens";
  if (path.rfind("tail.checkpoint[", 0) == 0) return path.substr(0, path.find(']') + 1);
  if (path.rfind("tail.draft_model.", 0) == 0) return "tail.draft_model";
  if (path.rfind("tail.", 0) == 0)
    return path == "tail.trailing" || path == "tail.dropped" ? path : "tail.header";
  if (path.rfind("memory[", 0) != 0) return path.rfind("n_", 0) == 0 ? path.substr(2) : path;
  if (path.find(".stream[") == std::string::npos && path.find(".n_stream") != std::string::npos)
    return fmt::format("{}.headers", owner_of(path));
  return fmt::format("{}.{}", owner_of(path), piece_of(path));
}

// Where K and V of each layer are next to each other, they are one piece.
std::string section_with_kv(const std::string& path) {
  const std::string label = section(path);
  const bool data = path.find(".layer[") != std::string::npos;
  return data && (label.ends_with(".k") || label.ends_with(".v"))
             ? label.substr(0, label.size() - 1) + "kv"
             : label;
}

bool alternates_by_layer(const Dialect& dialect) {
  return dialect.body >= Body::by_layer && dialect.body <= Body::v_flag;
}

std::vector<MapRange> map_with(const Dump& dump, Mapper::Label label) {
  Mapper mapper(label);
  format::Walker walker(mapper);
  format::walk(walker, dump);
  const bool may_drop = format::holds_one_sequence(dump.dialect) && dump.tail.trailing.size == 0;
  return mapper.finish(dump.source->size(), may_drop);
}

}  // namespace

std::vector<MapRange> map_of(const Dump& dump, bool every_field) {
  return map_with(dump, every_field ? whole_path : cells_together);
}

std::vector<MapRange> sections_of(const Dump& dump) {
  return map_with(dump, alternates_by_layer(dump.dialect) ? section_with_kv : section);
}

}  // namespace kvtool
