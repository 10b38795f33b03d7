// Names of entries are names, never paths.
#pragma once

#include <string>

namespace kvtool::store {

// Throws Error(usage) for what is no name: empty, longer than 255 bytes, no UTF-8, with a slash,
// NUL or another control character, `.` and `..`. `what`: "name" or "tag", for messages.
void require_name(const std::string& name, const char* what = "name");

}  // namespace kvtool::store
