#include "pack/outline.h"

#include <algorithm>
#include <map>

#include "kvtool/map.h"

namespace kvtool::packing {
namespace {

// Raw bytes of a chunk, as near as whole rows or blocks come to it.
constexpr std::uint32_t usual_chunk_bytes = 256U << 10U;
// Other payloads from this size on get a section of their own, so that metadata stays small.
constexpr std::uint64_t large_payload = 64U << 10U;

struct TensorPlace {
  const Tensor* tensor;
  const Stream* stream;
};
using TensorPlaces = std::map<std::uint64_t, TensorPlace>;  // by offset

TensorPlaces tensors_of(const Dump& dump) {
  TensorPlaces places;
  for_each_stream(dump, [&](const Stream& stream) {
    for (const Layer& layer : stream.layers)
      for (const Tensor* tensor : {&layer.k, &layer.v, &layer.ple})
        if (tensor->orientation != Orientation::absent && tensor->extent.size > 0)
          places[tensor->extent.offset] = {tensor, &stream};
  });
  return places;
}

std::uint32_t block_of(const std::vector<Part>& parts) {
  std::uint32_t bytes = 0;
  for (const Part& part : parts) bytes += part.width;
  return bytes;
}

std::uint32_t whole_units(std::uint64_t unit) {
  return static_cast<std::uint32_t>(usual_chunk_bytes / unit * unit);
}

// Parts by type if rows and elements are whole blocks of it, and chunks of whole rows.
void shape_by_tensor(Section& section, const Tensor& tensor) {
  std::vector<Part> parts = parts_of(tensor.type);
  const std::uint32_t block = block_of(parts);
  const bool rows = tensor.orientation == Orientation::rows;
  if ((rows ? tensor.row_bytes : tensor.element_bytes) % block == 0) section.parts = parts;
  const bool short_rows = rows && tensor.row_bytes <= usual_chunk_bytes;
  section.chunk_bytes =
      short_rows ? whole_units(tensor.row_bytes) : whole_units(block_bytes(section));
  if (short_rows) section.row_bytes = static_cast<std::uint32_t>(tensor.row_bytes);
}

bool is_float_output(const Dump& dump, std::uint64_t offset) {
  return offset == dump.outputs.logits.offset || offset == dump.outputs.embeddings.offset;
}

// Lists of words, of which opening a dump reads every one.
bool is_list(const std::string& label) {
  const std::string field = label.substr(label.rfind('.') + 1);
  return field == "cells" || field == "tokens";
}

class Cutter {
 public:
  explicit Cutter(const Dump& dump) : dump_(dump), tensors_(tensors_of(dump)) {
    add_section("metadata", 0, {0, nullptr, nullptr, "metadata"});
  }

  void add(const MapRange& range) {
    const auto tensor = tensors_.find(range.offset);
    if (tensor != tensors_.end() && tensor->second.tensor->extent.size == range.size)
      return add_tensor(range, tensor->second);
    if (range.size >= large_payload && !is_list(range.label)) return add_payload(range);
    outline_.sections.front().size += range.size;
    add_range(range.size, 0);
  }

  Outline take() { return std::move(outline_); }

 private:
  Section& add_section(const std::string& label, std::uint64_t size, SectionOrigin origin) {
    Section section;
    section.label = label;
    section.size = size;
    section.chunk_bytes = usual_chunk_bytes;
    section.parts = {Part{}};
    outline_.sections.push_back(std::move(section));
    outline_.origins.push_back(std::move(origin));
    return outline_.sections.back();
  }

  void add_tensor(const MapRange& range, const TensorPlace& place) {
    Section& section =
        add_section(range.label, range.size,
                    {range.offset, place.tensor, place.stream,
                     std::string(info(place.tensor->type).name)});
    shape_by_tensor(section, *place.tensor);
    add_range(range.size, outline_.sections.size() - 1);
  }

  void add_payload(const MapRange& range) {
    Section& section =
        add_section(range.label, range.size, {range.offset, nullptr, nullptr, "other"});
    if (is_float_output(dump_, range.offset)) section.parts = parts_of(ElementType::f32);
    add_range(range.size, outline_.sections.size() - 1);
  }

  void add_range(std::uint64_t size, std::size_t section) {
    auto& ranges = outline_.ranges;
    if (!ranges.empty() && ranges.back().section == section)
      ranges.back().size += size;
    else
      ranges.push_back({size, static_cast<std::uint32_t>(section)});
  }

  const Dump& dump_;
  TensorPlaces tensors_;
  Outline outline_;
};

}  // namespace

std::vector<Part> parts_of(ElementType type) {
  const auto widths = [](std::initializer_list<std::uint16_t> list) {
    std::vector<Part> parts;
    for (const std::uint16_t width : list) parts.push_back({width, {}});
    return parts;
  };
  switch (type) {
    case ElementType::f32: return widths({1, 1, 1, 1});
    case ElementType::f16:
    case ElementType::bf16: return widths({1, 1});
    case ElementType::q8_0: return widths({1, 1, 32});
    case ElementType::q4_0:
    case ElementType::iq4_nl: return widths({1, 1, 16});
    case ElementType::q4_1: return widths({1, 1, 1, 1, 16});
    case ElementType::q5_0: return widths({1, 1, 4, 16});
    case ElementType::q5_1: return widths({1, 1, 1, 1, 4, 16});
    case ElementType::q6_0: return widths({1, 1, 8, 16});
    case ElementType::q8_KV: break;  // its rows begin with a header
  }
  return widths({1});
}

Outline outline_of(const Dump& dump) {
  Cutter cutter(dump);
  for (const MapRange& range : map_of(dump)) cutter.add(range);
  return cutter.take();
}

}  // namespace kvtool::packing
