// Conversions as the tests here want them: from a file of testdata/, written to memory and read back.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kvtool/convert.h"
#include "kvtool/open.h"
#include "kvtool/write.h"
#include "support/sound.h"
#include "support/testdata.h"

namespace kvtool::test {

using DumpPointer = std::shared_ptr<const Dump>;

inline DumpPointer opened(const std::string& path) {
  return std::make_shared<Dump>(open_dump(testdata(path).string()));
}

inline DumpPointer opened(ByteVector bytes) {
  return std::make_shared<Dump>(open_dump(memory_source("converted", std::move(bytes))));
}

inline ByteVector bytes_of(const Dump& dump) {
  ByteVector bytes(dump.source->size());
  dump.source->read_at(0, bytes);
  return bytes;
}

inline ByteVector converted_bytes(const DumpPointer& dump, const Target& target,
                                  const ConvertOptions& options = {}) {
  return rewritten(convert(dump, target, options).plan);
}

inline DumpPointer converted(const DumpPointer& dump, const Target& target,
                             const ConvertOptions& options = {}) {
  return opened(converted_bytes(dump, target, options));
}

inline Target of_loader(const std::string& name) {
  Target target;
  target.era = era_of_loader(name);
  return target;
}

inline Target of_types(ElementType k, ElementType v) {
  Target target;
  target.type_k = k;
  target.type_v = v;
  return target;
}

inline ElementType type_named(const std::string& name) {
  return find_element_type(std::string_view(name))->type;
}

}  // namespace kvtool::test
