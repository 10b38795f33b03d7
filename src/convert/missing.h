// What a target needs and nothing tells.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kvtool::convert_steps {

// Collects all of it, so that one refusal names everything at once.
class Missing {
 public:
  // `what`: as in "sessions of version 4 hold WHAT"; `how`: the options that say it.
  void add(std::string what, std::string how);
  [[nodiscard]] std::size_t size() const { return what_.size(); }
  // Throws Error(refused) if anything is missing. `files`: "sessions of version 4"; `like`: what a
  // reference must be.
  void require_none(const std::string& files, const std::string& like) const;

 private:
  std::vector<std::string> what_;
  std::vector<std::string> how_;
};

}  // namespace kvtool::convert_steps
