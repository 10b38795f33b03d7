// A prompt named on the command line: a list of ids, a file with one, or another dump.
#pragma once

#include <memory>
#include <string>

#include "kvtool/dump.h"

namespace kvtool::cli {

struct Prompt {
  std::string name;                  // the file, or what a list of ids was called
  TokenArea tokens;
  std::shared_ptr<const Dump> dump;  // if it is one
};

// What `text` names (if it is ids, call them `name`): "-" is standard input, then come files, then
// ids themselves. Ids are separated by blanks or commas, or are JSON: a list of numbers, or of
// objects with "id", or an object that has such a list as "tokens" or "ids". Throws Error(usage)
// for anything else.
[[nodiscard]] Prompt read_prompt(const std::string& text, const std::string& name);

}  // namespace kvtool::cli
