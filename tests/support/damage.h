// Opening damaged bytes, and what may come of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kvtool/error.h"
#include "kvtool/map.h"
#include "kvtool/open.h"
#include "support/sound.h"
#include "support/views.h"

namespace kvtool::test {

struct Outcome {
  std::shared_ptr<const Dump> dump;  // it opened all the same, or
  std::optional<Error> error;        // it was refused
};

inline Outcome open_bytes(std::span<const std::byte> bytes, const OpenOptions& options = {}) {
  try {
    return {std::make_shared<const Dump>(open_dump(std::make_shared<ViewSource>(bytes), options)),
            std::nullopt};
  } catch (const Error& error) {
    return {nullptr, error};
  }
}

// A damaged file is refused with a place inside it, or else it is a sound file of another content.
// Empty, or what is wrong about the outcome.
inline std::string flaw_of(const Outcome& outcome, std::span<const std::byte> bytes) {
  if (outcome.dump) return flaw_of(outcome.dump, ByteVector(bytes.begin(), bytes.end()));
  const Error& error = *outcome.error;
  if (error.kind() == ErrorKind::refused) return "";  // two layouts fit: no single place
  if (!error.place()) return fmt::format("no place: {}", error.what());
  if (error.place()->offset > bytes.size() || error.place()->field.empty())
    return fmt::format("a place outside: {}", error.what());
  return "";
}

// The innermost part of a label: the name of the field.
inline std::string field_of(const MapRange& range) {
  return range.label.substr(range.label.rfind('.') + 1);
}

// Ranges whose bytes the reader interprets: everything but payloads.
inline bool is_metadata(const MapRange& range) {
  static const std::set<std::string> payloads = {
      "k_data",     "v_data",     "r_data",  "s_data",     "ple_data",      "data",     "rng",
      "rng_filler", "output_ids", "logits",  "embeddings", "logits_filler", "k_record", "v_record",
      "unused",     "unknown"};
  return payloads.count(field_of(range)) == 0;
}

// All metadata fields of a dump, cell by cell.
inline std::vector<MapRange> metadata_of(const Dump& dump) {
  std::vector<MapRange> fields;
  for (MapRange& range : map_of(dump, true))
    if (is_metadata(range)) fields.push_back(std::move(range));
  return fields;
}

}  // namespace kvtool::test
