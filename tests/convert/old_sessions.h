// The genuine sessions of testdata/history, and of history/ of KVTOOL_CORPUS=FOLDER.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convert/like.h"
#include "format/corpus/sidecar.h"

namespace kvtool::test {

struct Session {
  std::string name;
  DumpPointer dump;
  std::filesystem::path path;  // empty: built here
};

inline std::filesystem::path history_folder() {
  const char* corpus = std::getenv("KVTOOL_CORPUS");
  return corpus != nullptr ? std::filesystem::path(corpus) / "history" : testdata("history");
}

template <class Wanted>
std::vector<Session> sessions_in(const std::filesystem::path& folder, Wanted&& wanted) {
  std::vector<Session> sessions;
  for (const auto& path : dumps_below(folder)) {
    if (without_zst(path).extension() != ".ggsn") continue;
    auto dump = std::make_shared<Dump>(open_dump(path.string()));
    if (wanted(*dump)) sessions.push_back({path.filename().string(), std::move(dump), path});
  }
  return sessions;
}

// Those of testdata, and the corpus's besides: some of it is packed as no dump is.
template <class Wanted>
std::vector<Session> sessions_where(Wanted&& wanted) {
  std::vector<Session> sessions = sessions_in(testdata("history"), wanted);
  if (history_folder() == testdata("history")) return sessions;
  std::set<std::string> names;
  for (const Session& session : sessions) names.insert(without_zst(session.name).string());
  for (Session& session : sessions_in(history_folder(), wanted))
    if (!names.contains(session.name)) sessions.push_back(std::move(session));
  return sessions;
}

// Why a conversion is refused.
inline std::string refusal_of(const DumpPointer& dump, const Target& target,
                              const ConvertOptions& options) {
  try {
    (void)convert(dump, target, options);
  } catch (const Error& error) {
    return error.message();
  }
  return "not refused";
}

}  // namespace kvtool::test
