// Conversions to the layout of a reference, as `convert --like` does them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "kvtool/convert.h"
#include "kvtool/error.h"
#include "support/contents.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {

using DumpPointer = std::shared_ptr<const Dump>;
using Parts = std::set<std::string>;

// The bytes; nothing where the conversion is refused, with the reason in `refusal`.
inline std::optional<ByteVector> bytes_like(const DumpPointer& dump, const DumpPointer& reference,
                                            const Parts& drop, std::string& refusal) {
  ConvertOptions options;
  options.like = reference;
  if (dump->dialect.family == Family::ik_llama) options.rotation = StatedRotation::none;
  options.drop = drop;
  try {
    return rewritten(convert(dump, target_like(*reference), options).plan);
  } catch (const Error& error) {
    refusal = error.message();
    return std::nullopt;
  }
}

inline const Stream& main_stream(const Dump& dump) {
  return dump.state.memories.front().streams.front();
}

// The same, opened as the reference's layout and with its types where the file does not store them.
inline DumpPointer opened_like(const ByteVector& bytes, const Dump& reference) {
  OpenOptions options;
  options.layout = reference.layout;
  const Layer& layer = main_stream(reference).layers.front();
  if (!reference.header.empty()) options.k_type = layer.k.type;
  if (!reference.header.empty()) options.v_type = layer.v.type;
  return std::make_shared<Dump>(open_dump(memory_source("converted", bytes), options));
}

// Cells in use by label, with K and V of all layers.
inline Contents used_contents(const Dump& dump) {
  Contents contents = contents_of(dump, main_stream(dump));
  if (dump.dialect.container != Container::session) return contents;
  std::erase_if(contents, [](const auto& entry) { return entry.first.sequences.empty(); });
  return contents;
}

// The same types, widths and orientations in all layers.
inline bool same_tensors(const Dump& a, const Dump& b) {
  const auto& x = main_stream(a).layers;
  const auto& y = main_stream(b).layers;
  auto alike = [](const Tensor& t, const Tensor& u) { return same_form(t, u); };
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const Layer& l, const Layer& m) {
    return alike(l.k, m.k) && alike(l.v, m.v);
  });
}

}  // namespace kvtool::test
