// The file that a container's differences are differences from: found, and held against its hash.
#pragma once

#include <memory>

#include "kvtool/pack.h"
#include "pack/container.h"

namespace kvtool::packing {

// Size and hash of a file's content; reads all of it unless it is a container, which knows.
[[nodiscard]] BaseFile base_file_of(const Source& source, std::string name);

// The base of a container. Throws Error(refused) if it is not there or is another file.
[[nodiscard]] std::shared_ptr<const Source> checked_base(const BaseFile& wanted,
                                                         const BaseOpener& open,
                                                         const Source& container);

}  // namespace kvtool::packing
