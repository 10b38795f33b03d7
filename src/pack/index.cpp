#include "pack/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kvtool/checked.h"
#include "kvtool/error.h"
#include "pack/hash.h"
#include "pack/index_check.h"

namespace kvtool::packing {
namespace {

constexpr std::uint32_t most_header_bytes = 1U << 16U;

// Appends fields. Together with FieldReader it lets one description serve both ways.
class FieldWriter {
 public:
  template <class T>
  void number(const char* /*field*/, const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void text(const char* field, const std::string& value) {
    number(field, static_cast<std::uint32_t>(value.size()));
    const auto characters = std::as_bytes(std::span(value));
    bytes_.insert(bytes_.end(), characters.begin(), characters.end());
  }
  template <class T, class Each>
  void list(const char* field, const std::vector<T>& items, std::size_t /*least*/, Each each) {
    number(field, static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) each(item);
  }
  template <class T>
  void numbers(const char* field, const std::vector<T>& items, std::uint64_t /*count*/) {
    for (const T& item : items) number(field, item);
  }
  void check(const char* /*field*/, const std::string& /*problem*/) {}
  static constexpr bool reads = false;

  ByteVector take() { return std::move(bytes_); }
  [[nodiscard]] const ByteVector& bytes() const { return bytes_; }

 private:
  ByteVector bytes_;
};

// Takes fields from bytes that are all there.
class FieldReader {
 public:
  // `offset`: of the bytes in the container; `part`: their name in messages.
  FieldReader(std::span<const std::byte> bytes, std::uint64_t offset, const char* part)
      : bytes_(bytes), offset_(offset), part_(part) {}

  void number(const char* field, bool& value) {
    std::uint8_t byte = 0;
    number(field, byte);
    if (byte > 1) fail(field, "neither 0 nor 1");
    value = byte == 1;
  }
  template <class T>
  void number(const char* field, T& value) {
    require(field, sizeof value);
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
  }
  void text(const char* field, std::string& value) {
    const auto size = count(field, 1);
    value.assign(reinterpret_cast<const char*>(bytes_.data() + at_), size);
    at_ += size;
  }
  template <class T, class Each>
  void list(const char* field, std::vector<T>& items, std::size_t least, Each each) {
    items.resize(count(field, least));
    for (T& item : items) each(item);
  }
  template <class T>
  void numbers(const char* field, std::vector<T>& items, std::uint64_t wanted) {
    if (wanted > remaining() / sizeof(T))
      fail(field, fmt::format("{} of {} bytes each, {} remain", wanted, sizeof(T), remaining()));
    items.resize(static_cast<std::size_t>(wanted));
    for (T& item : items) number(field, item);
  }
  void check(const char* field, const std::string& problem) const {
    if (!problem.empty()) fail(field, problem);
  }
  static constexpr bool reads = true;

  void finish() const {
    if (remaining() > 0) fail("end", fmt::format("{} bytes too many", remaining()));
  }

 private:
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t count(const char* field, std::size_t least) {
    std::uint32_t wanted = 0;
    number(field, wanted);
    if (wanted > remaining() / least)
      fail(field, fmt::format("{} of at least {} bytes each, {} remain", wanted, least,
                              remaining()));
    return wanted;
  }
  void require(const char* field, std::size_t size) const {
    if (size > remaining()) fail(field, fmt::format("{} bytes, {} remain", size, remaining()));
  }
  [[noreturn]] void fail(const char* field, const std::string& what) const {
    throw Error(ErrorKind::damaged, Place{offset_ + at_, fmt::format("{}.{}", part_, field)}, what);
  }

  std::span<const std::byte> bytes_;
  std::uint64_t offset_;
  const char* part_;
  std::size_t at_ = 0;
};

// --- the description ---

template <class Io, class H>
void describe_header(Io& io, H& header) {
  io.number("raw_size", header.raw_size);
  io.number("inner_magic", header.inner_magic);
  io.number("inner_version", header.inner_version);
  io.text("layout", header.layout);
}

template <class Io, class B>
void describe_base_file(Io& io, B& base) {
  io.text("base_name", base.name);
  io.number("base_size", base.size);
  io.number("base_hash_low", base.hash_low);
  io.number("base_hash_high", base.hash_high);
}

template <class Io, class M>
void describe_map(Io& io, M& map) {
  io.number("cells", map.cells);
  io.number("base_cells", map.base_cells);
  io.list("n_run", map.runs, 12, [&](auto& run) {
    io.number("cell", run.cell);
    io.number("base_cell", run.base_cell);
    io.number("count", run.count);
  });
}

template <class Io, class P>
void describe_part(Io& io, P& part) {
  io.number("width", part.width);
  io.list("n_group", part.columns.ends, 2, [&](auto& end) { io.number("group_end", end); });
  io.list("n_column", part.columns.order, 2, [&](auto& column) { io.number("column", column); });
}

template <class Io, class B>
void describe_base_tensor(Io& io, B& base) {
  io.number("difference", base.difference);
  io.number("transposed", base.transposed);
  io.number("map", base.map);
  io.number("cell_bytes", base.cell_bytes);
  io.number("base_offset", base.offset);
}

template <class Io, class S>
void describe_section(Io& io, S& section) {
  io.text("label", section.label);
  io.number("size", section.size);
  io.number("chunk_bytes", section.chunk_bytes);
  io.number("row_bytes", section.row_bytes);
  io.number("filter", section.filter);
  io.list("n_part", section.parts, 10, [&](auto& part) { describe_part(io, part); });
  io.number("has_base", section.has_base);
  if (section.has_base) describe_base_tensor(io, section.base);
  io.number("packed_hash", section.packed_hash);
}

template <class Io, class I>
void describe_index(Io& io, I& index, std::uint64_t raw_size) {
  io.number("raw_hash_low", index.hash_low);
  io.number("raw_hash_high", index.hash_high);
  describe_base_file(io, index.base);
  io.list("n_map", index.maps, 12, [&](auto& map) {
    describe_map(io, map);
    if constexpr (Io::reads) io.check("map", problem_of(map));
  });
  io.list("n_section", index.sections, 43, [&](auto& section) {
    describe_section(io, section);
    if constexpr (Io::reads) io.check("section", problem_of(section, index));
  });
  io.list("n_range", index.ranges, 12, [&](auto& range) {
    io.number("range_size", range.size);
    io.number("range_section", range.section);
  });
  if constexpr (Io::reads) io.check("ranges", problem_of_ranges(index, raw_size));
  io.numbers("chunk_hash", index.chunk_hashes, chunks_in(index));
  io.numbers("frame_size", index.frame_sizes, frames_in(index));
}

// --- around it ---

ByteVector read(const Source& source, std::uint64_t offset, std::uint64_t size) {
  ByteVector bytes(static_cast<std::size_t>(size));
  source.read_at(offset, bytes);
  return bytes;
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

[[noreturn]] void fail(std::uint64_t offset, const char* field, const std::string& what,
                       ErrorKind kind = ErrorKind::damaged) {
  throw Error(kind, Place{offset, field}, what);
}

void require_hash(std::span<const std::byte> bytes, std::uint64_t expected, std::uint64_t offset,
                  const char* part) {
  const std::uint64_t found = hash64(bytes);
  if (found != expected)
    fail(offset, part, fmt::format("XXH3 is {:016x}, expected {:016x}", found, expected));
}

// magic, version, size of the header, the description, hash of all that.
Header read_header(const Source& packed, std::uint64_t& size) {
  constexpr std::uint64_t fixed = magic.size() + 8;
  if (packed.size() < fixed + 8 + footer_bytes) fail(packed.size(), "header", "the file ends here");
  const ByteVector head = read(packed, 0, fixed);
  size = number_at<std::uint32_t>(head, magic.size() + 4);
  if (size < fixed + 8 || size > most_header_bytes || size > packed.size() - footer_bytes)
    fail(magic.size() + 4, "header", fmt::format("cannot have {} bytes", size));
  const ByteVector bytes = read(packed, 0, size);
  const auto content = std::span(bytes).first(bytes.size() - 8);
  require_hash(content, number_at<std::uint64_t>(bytes, content.size()), 0, "header");
  const auto version = number_at<std::uint32_t>(bytes, magic.size());
  if (version != container_version)
    fail(magic.size(), "header", fmt::format("container version {} is unknown", version),
         ErrorKind::unsupported);
  Header header;
  FieldReader io(content.subspan(fixed), fixed, "header");
  describe_header(io, header);
  io.finish();
  return header;
}

Extent read_footer(const Source& packed, std::uint64_t& index_hash) {
  const std::uint64_t at = packed.size() - footer_bytes;
  const ByteVector bytes = read(packed, at, footer_bytes);
  if (std::memcmp(bytes.data() + 32, end_magic.data(), end_magic.size()) != 0)
    fail(at + 32, "footer", "is not there: the file was cut, or something was appended");
  require_hash(std::span(bytes).first(24), number_at<std::uint64_t>(bytes, 24), at, "footer");
  index_hash = number_at<std::uint64_t>(bytes, 16);
  return {number_at<std::uint64_t>(bytes, 0), number_at<std::uint64_t>(bytes, 8)};
}

void require_frames_fit(const Index& index, const Extent& frames) {
  std::uint64_t bytes = 0;
  for (const std::uint32_t size : index.frame_sizes) bytes += size;  // 2^32 of 2^32 at most
  if (bytes != frames.size)
    fail(frames.end(), "index", fmt::format("its frames have {} bytes, {} are there", bytes,
                                            frames.size));
}

}  // namespace

ByteVector encode_header(const Header& header) {
  FieldWriter io;
  for (const unsigned char c : magic) io.number("magic", c);
  io.number("container_version", container_version);
  const auto size = magic.size() + 8 + 8 + 4 + 4 + 4 + header.layout.size() + 8;
  io.number("header_size", static_cast<std::uint32_t>(size));
  describe_header(io, header);
  io.number("header_hash", hash64(io.bytes()));
  return io.take();
}

ByteVector encode_index(const Index& index) {
  FieldWriter io;
  describe_index(io, index, 0);
  return io.take();
}

ByteVector encode_footer(std::uint64_t offset, std::span<const std::byte> index) {
  FieldWriter io;
  io.number("index_offset", offset);
  io.number("index_size", std::uint64_t{index.size()});
  io.number("index_hash", hash64(index));
  io.number("footer_hash", hash64(io.bytes()));
  for (const unsigned char c : end_magic) io.number("end_magic", c);
  return io.take();
}

bool begins_like_container(std::span<const std::byte> head) {
  return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

ContainerFile read_container(const Source& packed) {
  ContainerFile container;
  container.header = read_header(packed, container.frames_offset);
  std::uint64_t index_hash = 0;
  const Extent index = read_footer(packed, index_hash);
  const std::uint64_t end = packed.size() - footer_bytes;
  if (index.offset < container.frames_offset || index.offset > end ||
      index.size != end - index.offset)
    fail(end, "footer", fmt::format("the index cannot lie at {} with {} bytes", index.offset,
                                    index.size));
  const ByteVector bytes = read(packed, index.offset, index.size);
  require_hash(bytes, index_hash, index.offset, "index");
  FieldReader io(bytes, index.offset, "index");
  describe_index(io, container.index, container.header.raw_size);
  io.finish();
  require_frames_fit(container.index,
                     {container.frames_offset, index.offset - container.frames_offset});
  return container;
}

}  // namespace kvtool::packing
