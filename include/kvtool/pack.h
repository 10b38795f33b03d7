// The compressed container (.kvz) and seekable zstd files: packing and unpacking.
//
// Reading needs nothing of this: open_source() gives the content of either, and of any zstd file,
// as a Source that unpacks what is read of it and checks it. kvtool-format(5) specifies the
// container.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kvtool/dump.h"
#include "kvtool/source.h"
#include "kvtool/write.h"

namespace kvtool {

struct PackOptions {
  int level = 1;         // of zstd, where it looks for repeats: 1 to 19
  unsigned threads = 1;  // that compress, 1 to 16; the result does not depend on it
  std::shared_ptr<const Dump> base;  // store differences from this dump
  std::string base_name;             // what a reader will look for: a file name without folders
  std::function<void(std::uint64_t)> progress;  // called with raw bytes done since the last call
};

// What became of a section: all metadata, one tensor, or another large payload.
struct PackedSection {
  std::string label;        // as `kvtool map` says, or "metadata"
  std::string kind;         // an element type, "metadata" or "other"
  std::uint64_t raw = 0;    // bytes
  std::uint64_t packed = 0;
  std::uint64_t from_base = 0;  // raw bytes that are stored as a difference
};

struct PackReport {
  std::uint64_t raw = 0;     // bytes of the dump
  std::uint64_t packed = 0;  // bytes of the container, index and all
  std::uint64_t around = 0;  // of these, header, index and footer
  std::vector<PackedSection> sections;
};

// Writes a dump's file as a container, every byte of it. Needs a few megabytes for each thread.
// Throws Error(io, refused).
PackReport pack(const Dump& dump, Sink& sink, const PackOptions& options = {});

// Writes any content as zstd frames of 256 KiB with a seek table, which `zstd -d` restores. Uses
// level, threads and progress. Returns the bytes written. Throws Error(io).
std::uint64_t pack_plain(const Source& source, Sink& sink, const PackOptions& options = {});

struct UnpackOptions {
  unsigned threads = 1;
  std::function<void(std::uint64_t)> progress;  // called with raw bytes done since the last call
};

// Writes the content of a source that packing_of() knows. Of a container every byte is checked: the
// frames as they lie there, what is in them, and the whole. Throws Error(damaged, io, refused).
void unpack(const Source& source, Sink& sink, const UnpackOptions& options = {});

// How the content of a source is kept.
enum class PackingForm {
  container,  // .kvz
  seekable,   // zstd with a seek table
  zstd,       // any other zstd file; read by way of a temporary file
};

// "container", "zstd with a seek table" or "zstd".
[[nodiscard]] std::string name_of(PackingForm form);

struct Packing {
  PackingForm form = PackingForm::container;
  std::uint64_t packed_size = 0;  // bytes on disk
  std::string layout;             // containers: of the dump inside
  std::string base_name;          // containers that are differences: the file that is needed
};

// Nothing for a source that is not compressed.
[[nodiscard]] std::optional<Packing> packing_of(const Source& source);

// Opens the base of a container, which calls it `name`, when it is needed. Without one the folder
// of the container is searched for a file of that name, packed or not.
using BaseOpener = std::function<std::shared_ptr<const Source>(const std::string& name)>;

// As open_source(path), with a base for containers.
[[nodiscard]] std::shared_ptr<Source> open_source(const std::string& path, const BaseOpener& base);

// The content of `packed`, the bytes of a compressed file; nothing if they do not begin as such.
// Throws Error(damaged, unsupported).
[[nodiscard]] std::shared_ptr<Source> open_packed(std::shared_ptr<const Source> packed,
                                                  BaseOpener base = {});

}  // namespace kvtool
