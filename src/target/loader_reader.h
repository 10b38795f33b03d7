// How llama.cpp reads the words of a file, end of file included.
//
// Readers until early 2026 stop at the end of the file. Later ones do not notice it: a read past the
// end leaves the variable as it was, and the count of bytes read is compared with the size of the
// file only when everything has been read. So what the variable held before decides: for most fields
// that is the value of the same field one layer or cell earlier, for the first one what measurements
// with 0.7.0 showed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "format/cursor.h"
#include "kvtool/dump.h"

namespace kvtool::target {

class LoaderReader {
 public:
  // `strict`: stops at the end.
  LoaderReader(format::Window& window, Extent bounds, bool strict)
      : window_(window), at_(bounds.offset), end_(bounds.end()), strict_(strict) {}

  // The next little-endian word of 4 or 8 bytes as variable `name` holds it after the read; nothing
  // when it depends on left-over memory.
  std::optional<std::uint64_t> word(const char* name, std::uint32_t bytes);
  // Passes over data.
  void skip(std::uint64_t bytes);

  // Bytes that the loader believes to have read.
  [[nodiscard]] std::uint64_t offset() const { return at_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] bool past_end() const { return at_ > end_; }
  // The reader has stopped at the end: everything after it is meaningless.
  [[nodiscard]] bool stopped() const { return strict_ && past_end(); }
  // A left-over value was used whose origin is a guess.
  [[nodiscard]] bool guessed() const { return guessed_; }

 private:
  std::optional<std::uint64_t> left_over(const std::string& name);

  format::Window& window_;
  std::uint64_t at_;
  std::uint64_t end_;
  bool strict_;
  bool guessed_ = false;
  std::map<std::string, std::uint64_t> last_;  // the latest value of each variable
};

}  // namespace kvtool::target
