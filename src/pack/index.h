// Header, index and footer of a container, between memory and bytes. Reading trusts nothing: every
// count is held against the bytes that are there before anything is allocated for it.
#pragma once

#include <span>
#include <vector>

#include "kvtool/source.h"
#include "pack/container.h"

namespace kvtool::packing {

[[nodiscard]] ByteVector encode_header(const Header& header);
[[nodiscard]] ByteVector encode_index(const Index& index);
// `index`: the encoded one, which begins at `offset` of the container.
[[nodiscard]] ByteVector encode_footer(std::uint64_t offset, std::span<const std::byte> index);

// A container's frame: what it says, and where its frames begin.
struct ContainerFile {
  Header header;
  Index index;
  std::uint64_t frames_offset = 0;
};

// Whether the bytes of a file begin as a container does.
[[nodiscard]] bool begins_like_container(std::span<const std::byte> head);
// Reads and checks all but the frames. Throws Error(damaged, unsupported), with an offset in the
// container and header, index or footer as the field.
[[nodiscard]] ContainerFile read_container(const Source& packed);

}  // namespace kvtool::packing
