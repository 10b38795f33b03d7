// What cannot be read at random (pipes) or not as it is (zstd) goes to an unlinked temporary file.
#pragma once

#include <memory>

#include "io/file_source.h"

namespace kvtool {

// All of standard input. Throws Error(io).
std::shared_ptr<Source> spool_stdin(Disk& disk);
// The rest of a pipe or device that is open as `file`.
std::shared_ptr<Source> spool(Disk& disk, const FileSource& file);
// The content of the zstd frames in `packed`; keeps its name and mode. Throws Error(damaged).
std::shared_ptr<Source> decompress(Disk& disk, const Source& packed);

}  // namespace kvtool
