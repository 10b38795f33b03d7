// What is said of types whose values are not decoded here.
#pragma once

#include <fmt/format.h>

#include <string>

#include "kvtool/element_type.h"

namespace kvtool {

// The fork's q8_KV has the scale of a row before it; such rows are moved whole.
[[nodiscard]] inline std::string undecodable(ElementType type) {
  if (info(type).row_header_bytes > 0)
    return fmt::format("rows of type {} are moved whole, and their values are not decoded",
                       info(type).name);
  return fmt::format("no cache has elements of type {}", info(type).name);
}

}  // namespace kvtool
