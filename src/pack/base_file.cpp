#include "pack/base_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "kvtool/error.h"
#include "pack/hash.h"
#include "pack/packed_source.h"

namespace kvtool::packing {
namespace {

std::string hash_text(const BaseFile& file) {
  return fmt::format("{:016x}{:016x}", file.hash_high, file.hash_low);
}

// Beside the container, under its name, and as it is called when it was packed itself since.
std::shared_ptr<const Source> search(const Source& container, const std::string& name) {
  const auto folder = std::filesystem::path(container.name()).parent_path();
  const bool bare = std::filesystem::path(name).filename() == name && name != ".." && name != ".";
  if (!bare) return nullptr;
  for (const char* ending : {"", ".kvz", ".zst"}) {
    const std::string path = (folder / (name + ending)).string();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return open_source(path);
  }
  return nullptr;
}

}  // namespace

BaseFile base_file_of(const Source& source, std::string name) {
  BaseFile file{std::move(name), source.size(), 0, 0};
  if (const auto* packed = dynamic_cast<const PackedSource*>(&source)) {
    file.hash_low = packed->container().index.hash_low;
    file.hash_high = packed->container().index.hash_high;
    return file;
  }
  FileHash hash;
  add_range(hash, source, {0, source.size()});
  const auto value = hash.value();
  file.hash_low = value.low64;
  file.hash_high = value.high64;
  return file;
}

std::shared_ptr<const Source> checked_base(const BaseFile& wanted, const BaseOpener& open,
                                           const Source& container) {
  auto base = open ? open(wanted.name) : search(container, wanted.name);
  if (!base)
    throw Error(ErrorKind::refused,
                fmt::format("holds differences from {} (XXH3 {}), which is not beside it; "
                            "unpack --base names another place",
                            wanted.name, hash_text(wanted)))
        .in_file(container.name());
  const BaseFile found = base_file_of(*base, wanted.name);
  if (found.size != wanted.size || hash_text(found) != hash_text(wanted))
    throw Error(ErrorKind::refused,
                fmt::format("is not the base of {}: XXH3 {} of {} bytes, expected {} of {}",
                            container.name(), hash_text(found), found.size, hash_text(wanted),
                            wanted.size))
        .in_file(base->name());
  return base;
}

}  // namespace kvtool::packing
