// Which compressed form a file has, and a Source for its content.
#include <array>
#include <cstring>

#include "io/spool.h"
#include "io/zstd_magic.h"
#include "kvtool/pack.h"
#include "pack/packed_source.h"
#include "pack/seekable.h"
#include "pack/spooled_source.h"

namespace kvtool {

using namespace packing;

std::shared_ptr<Source> open_packed(std::shared_ptr<const Source> packed, BaseOpener base) {
  std::array<std::byte, 8> head{};
  if (packed->size() < 4) return nullptr;
  const auto known = std::span(head).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), packed->size())));
  packed->read_at(0, known);
  if (begins_like_container(known))
    return std::make_shared<PackedSource>(std::move(packed), std::move(base));
  if (!begins_like_zstd(known)) return nullptr;
  if (auto table = read_seek_table(*packed))
    return std::make_shared<SeekableSource>(std::move(packed), std::move(*table));
  return std::make_shared<SpooledSource>(packed->size(), decompress(Disk::system(), *packed));
}

std::string name_of(PackingForm form) {
  switch (form) {
    case PackingForm::container: return "container";
    case PackingForm::seekable: return "zstd with a seek table";
    case PackingForm::zstd: return "zstd";
  }
  return {};
}

std::optional<Packing> packing_of(const Source& source) {
  if (const auto* container = dynamic_cast<const PackedSource*>(&source))
    return Packing{PackingForm::container, container->packed().size(),
                   container->container().header.layout, container->container().index.base.name};
  if (const auto* seekable = dynamic_cast<const SeekableSource*>(&source))
    return Packing{PackingForm::seekable, seekable->packed().size(), {}, {}};
  if (const auto* spooled = dynamic_cast<const SpooledSource*>(&source))
    return Packing{PackingForm::zstd, spooled->packed_size(), {}, {}};
  return std::nullopt;
}

}  // namespace kvtool
