#include "format/old_slot.h"

#include <utility>

#include "kvtool/error.h"

namespace kvtool::format {

std::vector<StateReading> read_old_slot(Reader io, const std::string& attempt, Furthest& furthest) {
  io.set_skims(false);
  State state;
  state.arrangement = "kv";
  state.memories.resize(1);
  state.memories.front().role = "main";
  state.memories.front().streams.resize(1);
  try {
    old::typed_slot(io, state);
  } catch (const Error& error) {
    furthest.note(error, attempt, io.progress());
    return {};
  }
  return {{std::move(state), io}};
}

}  // namespace kvtool::format
