// One rewrite of each kind that kvtool makes, for tests in which the disk fails.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kvtool/dump.h"
#include "kvtool/write.h"

namespace kvtool::test {

// What a verb does with an open dump.
struct Job {
  std::string file;  // in testdata/
  std::function<void(const std::shared_ptr<const Dump>&, Sink&)> write;
};

// By the name of the verb, or of what it does differently.
[[nodiscard]] const std::map<std::string, Job>& jobs();

}  // namespace kvtool::test
