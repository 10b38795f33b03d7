#include "tensor/unknown_values.h"

#include <fmt/format.h>

#include "kvtool/codec.h"
#include "kvtool/error.h"

namespace kvtool {

void require_known_values(ElementType type) {
  if (can_decode(type)) return;
  throw Error(ErrorKind::unsupported,
              fmt::format("no cache has elements of type {}", info(type).name));
}

// What the fork's build makes of a number is not known here, so nothing is written in its name.
void require_known_rounding(ElementType type) {
  if (can_encode(type)) return;
  require_known_values(type);
  throw Error(ErrorKind::unsupported,
              fmt::format("how ik_llama.cpp rounds numbers to {} is not known here, so none are "
                          "written",
                          info(type).name));
}

}  // namespace kvtool
