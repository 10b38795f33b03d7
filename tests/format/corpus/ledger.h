// Keeps account of what was compared with sidecars: how many files and fields of each family, and
// what differed.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kvtool::test {

class Ledger {
 public:
  // Begins a file of a family of sidecars.
  void file(std::string family, std::string name) {
    family_ = std::move(family);
    name_ = std::move(name);
    ++files_[family_];
  }

  // Compares one field of the current file.
  template <class T>
  void equal(const std::string& field, const T& expected, const T& found) {
    count(field);
    if (!(expected == found))
      differ(field, fmt::format("expected {}, found {}", expected, found));
  }

  // Compares a number that the sidecar holds in six or more digits.
  void close(const std::string& field, double expected, double found) {
    count(field);
    if (!(std::abs(expected - found) <= 1e-6 * std::abs(expected) + 1e-12))
      differ(field, fmt::format("expected {}, found {}", expected, found));
  }

  // Notes something that must hold.
  void require(const std::string& field, bool holds, const std::string& detail) {
    count(field);
    if (!holds) differ(field, detail);
  }

  [[nodiscard]] std::size_t files(const std::string& family) const {
    const auto at = files_.find(family);
    return at == files_.end() ? 0 : at->second;
  }
  [[nodiscard]] std::size_t fields(const std::string& family, const std::string& field) const {
    const auto at = fields_.find({family, field});
    return at == fields_.end() ? 0 : at->second;
  }
  [[nodiscard]] const std::vector<std::string>& differences() const { return differences_; }

  // Figures for people, one line a family.
  [[nodiscard]] std::string summary() const {
    std::string text;
    for (const auto& [family, files] : files_) {
      std::size_t sum = 0;
      std::string names;
      for (const auto& [key, n] : fields_)
        if (key.first == family) {
          sum += n;
          names += fmt::format(" {} {}", key.second, n);
        }
      text += fmt::format("{}: {} files, {} fields:{}\n", family, files, sum, names);
    }
    return text;
  }

 private:
  void count(const std::string& field) { ++fields_[{family_, field}]; }
  void differ(const std::string& field, const std::string& detail) {
    differences_.push_back(fmt::format("{} ({}): {}: {}", name_, family_, field, detail));
  }

  std::string family_;
  std::string name_;
  std::map<std::string, std::size_t> files_;
  std::map<std::pair<std::string, std::string>, std::size_t> fields_;
  std::vector<std::string> differences_;
};

}  // namespace kvtool::test
