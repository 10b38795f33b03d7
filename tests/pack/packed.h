// Packing and unpacking in memory.
#pragma once

#include <memory>
#include <string>

#include "kvtool/open.h"
#include "kvtool/pack.h"
#include "support/bytes.h"
#include "support/views.h"

namespace kvtool::test {

inline ByteVector packed(const Dump& dump, const PackOptions& options = {}) {
  MemorySink sink;
  pack(dump, sink, options);
  return sink.bytes();
}

inline std::shared_ptr<const Dump> opened(const ByteVector& bytes, const std::string& layout = {}) {
  OpenOptions options;
  options.layout = layout;
  options.trailing = Trailing::keep;
  return std::make_shared<const Dump>(open_dump(memory_source("dump", bytes), options));
}

inline std::shared_ptr<Source> opened_packed(const ByteVector& bytes, BaseOpener base = {}) {
  return open_packed(memory_source("packed", bytes), std::move(base));
}

inline ByteVector unpacked(const Source& source, unsigned threads = 1) {
  MemorySink sink;
  UnpackOptions options;
  options.threads = threads;
  unpack(source, sink, options);
  return sink.bytes();
}

inline ByteVector read_all(const Source& source) {
  ByteVector bytes(static_cast<std::size_t>(source.size()));
  source.read_at(0, bytes);
  return bytes;
}

}  // namespace kvtool::test
