// Compressed files: refused, or read to the last byte in pieces and as a whole with one result.
#include <algorithm>

#include "fuzz/target.h"
#include "kvtool/error.h"
#include "kvtool/pack.h"
#include "support/views.h"

namespace kvtool::fuzz {
namespace {

constexpr std::uint64_t most_bytes = 4U << 20U;  // of content: what is larger is only looked into

std::vector<std::byte> read(const Source& source, std::uint64_t piece) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(source.size(), most_bytes)));
  for (std::uint64_t at = 0; at < bytes.size(); at += piece) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece, bytes.size() - at));
    source.read_at(at, std::span(bytes).subspan(static_cast<std::size_t>(at), size));
  }
  return bytes;
}

}  // namespace

void try_input(std::span<const std::byte> input) {
  const auto content = open_packed(std::make_shared<test::ViewSource>(input));
  if (content == nullptr) return;
  static_cast<void>(packing_of(*content));
  const auto bytes = read(*content, 100'000);
  require(bytes == read(*content, 4097), "pieces and larger pieces differ");
  if (content->size() > most_bytes) return;
  MemorySink sink;
  unpack(*content, sink);
  require(sink.bytes() == bytes, "unpack gives something else than reading");
}

}  // namespace kvtool::fuzz
