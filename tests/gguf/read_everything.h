#pragma once

#include "kvtool/gguf.h"

namespace kvtool::test {

// Calls every getter for every key, so that a value that was accepted is also read.
inline void read_everything(const Gguf& model) {
  for (const auto& [key, value] : model.values()) {
    static_cast<void>(model.u64(key));
    static_cast<void>(model.i64(key));
    static_cast<void>(model.f64(key));
    static_cast<void>(model.boolean(key));
    static_cast<void>(model.string(key));
    static_cast<void>(model.strings(key));
    static_cast<void>(model.f32s(key));
    static_cast<void>(model.i32s(key));
  }
}

}  // namespace kvtool::test
