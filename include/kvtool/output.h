// Where a rewritten dump goes: a file that appears whole or not at all, or standard output.
#pragma once

#include <memory>
#include <string>

#include "kvtool/write.h"

namespace kvtool {

// A Sink whose content becomes visible only with commit(). Destroyed before that, it leaves
// whatever had its name untouched and nothing beside it.
class Output : public Sink {
 public:
  // Flushes, syncs and gives the content its name. Throws Error(io).
  virtual void commit() = 0;
};

struct OutputOptions {
  bool overwrite = false;  // replace a file that is there; otherwise that is an error
  unsigned mode = 0600;    // permission bits of the new file
};

// Opens `path` for writing; "-" is standard output. The data is written in the folder of `path` and
// synced before it takes the name. What is no file, as /dev/null or a named pipe, is written to as
// it is, like standard output; it must not be a terminal. Throws Error(io, refused).
[[nodiscard]] std::unique_ptr<Output> open_output(const std::string& path,
                                                  const OutputOptions& options = {});

}  // namespace kvtool
